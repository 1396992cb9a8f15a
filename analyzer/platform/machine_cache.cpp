#include "platform/machine_cache.h"

#include "platform/private_file.h"
#include "platform/read_file.h"

#include <cstdint>
#include <cstring>
#include <sys/utsname.h>
#include <unistd.h>
#include <zstd.h>

namespace plumb::platform {

namespace {

constexpr std::string_view kMagic = "plumb-machine-1\n", kFilePrefix = "machine-";
constexpr size_t kMostBytes = MachineCache::kMostBytes, kMostValueBytes = 256 << 10;

void put(std::string& to, std::string_view text) {
    const auto size = static_cast<uint32_t>(text.size());
    to.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

bool take(std::string_view& from, std::string_view& text) {
    uint32_t size = 0;
    if (from.size() < sizeof size)
        return false;
    std::memcpy(&size, from.data(), sizeof size);
    from.remove_prefix(sizeof size);
    if (from.size() < size)
        return false;
    text = from.substr(0, size);
    from.remove_prefix(size);
    return true;
}

std::string read_whole(int fd) {
    std::string text;
    char part[8192];
    ssize_t got = 0;
    while (text.size() <= kMostBytes && (got = read(fd, part, sizeof part)) > 0)
        text.append(part, static_cast<size_t>(got));
    return got == 0 ? text : std::string();
}

// "name<tabs>: value" of the first processor.
std::string line_of(std::string_view text, std::string_view name) {
    while (!text.empty()) {
        const std::string_view line = next_line(text);
        if (line.starts_with(name) && line.find(':') != std::string_view::npos)
            return std::string(line.substr(line.find(':')));
        if (line.empty())
            break;
    }
    return {};
}

} // namespace

std::string machine_identity(const std::string& root) {
    const auto boot = read_file(root + "/proc/sys/kernel/random/boot_id", 64);
    if (!boot || boot->empty())
        return {};
    // The first processor's lines are enough; the file is long on large machines.
    const std::string cpu = read_file(root + "/proc/cpuinfo", 4096).value_or("");
    utsname kernel{};
    uname(&kernel);
    std::string identity = std::string(kernel.release) + "\n" + kernel.version + "\n" + *boot;
    for (const char* name : {"vendor_id", "cpu family", "model", "model name", "stepping", "microcode", "CPU part", "CPU revision"})
        identity += line_of(cpu, name) + "\n";
    return identity;
}

MachineCache::MachineCache(std::string folder, std::string host, std::string machine)
    : folder_(std::move(folder)), file_(name_for_host(kFilePrefix, std::move(host))), machine_(std::move(machine)) {}

MachineCache MachineCache::of_this_machine() {
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    return {user_cache_folder(), host, machine_identity("")};
}

MachineCache::Values MachineCache::load() const {
    const Descriptor file(open_private_file(folder_, file_));
    return file ? parse(unpack(read_whole(file.get())), machine_) : Values();
}

std::string MachineCache::format(const Values& values, const std::string& machine) {
    std::string plain(kMagic);
    put(plain, machine);
    for (const auto& [name, value] : values) {
        put(plain, name);
        put(plain, value);
    }
    return plain;
}

std::string MachineCache::pack(const std::string& plain) {
    std::string frame(ZSTD_compressBound(plain.size()), '\0');
    ZSTD_CCtx* context = ZSTD_createCCtx();
    if (!context)
        return {};
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    const size_t bytes = ZSTD_compress2(context, frame.data(), frame.size(), plain.data(), plain.size());
    ZSTD_freeCCtx(context);
    frame.resize(ZSTD_isError(bytes) ? 0 : bytes);
    return frame;
}

std::string MachineCache::unpack(const std::string& file) {
    const unsigned long long bytes = ZSTD_getFrameContentSize(file.data(), file.size());
    if (bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == ZSTD_CONTENTSIZE_ERROR || bytes > kMostBytes)
        return {};
    std::string plain(bytes, '\0');
    const size_t got = ZSTD_decompress(plain.data(), plain.size(), file.data(), file.size());
    return ZSTD_isError(got) || got != bytes ? std::string() : plain;
}

MachineCache::Values MachineCache::parse(std::string_view plain, std::string_view machine) {
    std::string_view rest = plain, of, name, value;
    if (!rest.starts_with(kMagic))
        return {};
    rest.remove_prefix(kMagic.size());
    if (!take(rest, of) || of != machine)
        return {};
    Values values;
    while (!rest.empty()) {
        if (!take(rest, name) || !take(rest, value))
            return {};
        values.insert_or_assign(std::string(name), std::string(value));
    }
    return values;
}

std::optional<std::string> MachineCache::find(const std::string& name) {
    if (folder_.empty() || machine_.empty())
        return std::nullopt;
    if (const auto kept = kept_.find(name); kept != kept_.end())
        return kept->second;
    if (!is_loaded_) {
        is_loaded_ = true;
        values_ = load();
    }
    const auto known = values_.find(name);
    return known == values_.end() ? std::nullopt : std::optional(known->second);
}

void MachineCache::keep(const std::string& name, std::string value) {
    if (value.size() <= kMostValueBytes)
        kept_[name] = std::move(value);
}

void MachineCache::save() {
    if (kept_.empty() || folder_.empty() || machine_.empty())
        return;
    Values all = load();
    for (const auto& [name, value] : kept_)
        all.insert_or_assign(name, value);
    std::string plain = format(all, machine_);
    if (plain.size() > kMostBytes)
        plain = format(kept_, machine_);
    kept_.clear();
    is_loaded_ = false;
    if (plain.size() > kMostBytes)
        return;
    if (const std::string frame = pack(plain); !frame.empty())
        write_private_file(folder_, file_, frame);
}

} // namespace plumb::platform
