#include "symbols/kernel_names.h"

#include "platform/machine_cache.h"
#include "platform/private_file.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <vector>

namespace plumb::symbols {

namespace {

constexpr char kKernelMagic[16] = "plumb-kernel-1\n";
constexpr uint64_t kMostSpan = UINT32_MAX; // of the kernel's code

struct Header {
    char magic[16];
    uint64_t base, end;
    uint32_t count, machine_bytes; // padded to 4
    uint64_t text_bytes;
};

uint64_t padded(uint64_t bytes) { return (bytes + 3) & ~uint64_t{3}; }

template <typename T> void put(std::string& to, const T& value) {
    to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

} // namespace

KernelTable::KernelTable(const std::string& folder, const std::string& name, const std::string& machine) {
    if (folder.empty() || machine.empty())
        return;
    const platform::Descriptor file(platform::open_private_file(folder, name));
    struct stat info {};
    if (!file || fstat(file.get(), &info) != 0 || info.st_size < static_cast<off_t>(sizeof(Header)))
        return;
    bytes_ = static_cast<size_t>(info.st_size);
    data_ = mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (data_ == MAP_FAILED)
        data_ = nullptr;
    else if (!read({static_cast<const char*>(data_), bytes_}, machine))
        count_ = 0;
}

KernelTable::~KernelTable() {
    if (data_)
        munmap(data_, bytes_);
}

// Offsets are checked where they are used: a report does not read all of them.
bool KernelTable::read(std::string_view file, const std::string& machine) {
    Header header;
    std::memcpy(&header, file.data(), sizeof header);
    if (std::memcmp(header.magic, kKernelMagic, sizeof kKernelMagic) != 0 || header.machine_bytes != machine.size() ||
        header.end <= header.base || header.text_bytes > file.size())
        return false;
    const uint64_t begins = sizeof header + padded(header.machine_bytes);
    const uint64_t text = begins + uint64_t{header.count} * 2 * sizeof(uint32_t);
    if (text + header.text_bytes != file.size() || header.text_bytes == 0 || file.back() != '\0' ||
        file.substr(sizeof header, machine.size()) != machine)
        return false;
    base_ = header.base;
    end_ = header.end;
    count_ = header.count;
    begins_ = reinterpret_cast<const uint32_t*>(file.data() + begins);
    names_ = begins_ + count_;
    text_ = file.data() + text;
    text_bytes_ = header.text_bytes;
    return true;
}

std::optional<std::pair<std::string, uint64_t>> KernelTable::at(uint64_t address) const {
    const uint64_t offset = address - base_;
    const uint32_t* after = std::upper_bound(begins_, begins_ + count_, offset,
                                             [](uint64_t asked, uint32_t begin) { return asked < begin; });
    if (after == begins_)
        return std::nullopt;
    const uint32_t name = names_[after - begins_ - 1];
    if (name >= text_bytes_)
        return std::nullopt;
    return std::pair(std::string(text_ + name), offset - *(after - 1)); // the text ends with a zero
}

std::string KernelTable::format(const AddressNames& names, const std::string& machine) {
    const auto base = names.address_of("_stext"), end = names.address_of("_etext");
    if (!base || !end || *end <= *base || *end - *base > kMostSpan)
        return {};
    std::vector<uint32_t> begins, places;
    std::string text;
    names.for_each([&](uint64_t begin, std::string_view name) {
        if (begin < *base || begin >= *end)
            return;
        begins.push_back(static_cast<uint32_t>(begin - *base));
        places.push_back(static_cast<uint32_t>(text.size()));
        text.append(name).push_back('\0');
    });
    if (text.size() > UINT32_MAX)
        return {};
    Header header{{}, *base, *end, static_cast<uint32_t>(begins.size()), static_cast<uint32_t>(machine.size()), text.size()};
    std::memcpy(header.magic, kKernelMagic, sizeof kKernelMagic);
    std::string file;
    put(file, header);
    file.append(machine).append(padded(machine.size()) - machine.size(), '\0');
    for (const std::vector<uint32_t>* part : {&begins, &places})
        file.append(reinterpret_cast<const char*>(part->data()), part->size() * sizeof(uint32_t));
    return file + text;
}

KernelNames::KernelNames(const std::string& root, const std::string& folder)
    : path_(root + "/proc/kallsyms"), folder_(folder), file_(platform::name_for_this_host("kernel-")),
      machine_(folder.empty() ? "" : platform::machine_identity(root)), table_(folder_, file_, machine_) {
    if (!table_.is_valid())
        reading_ = std::async(std::launch::async, AddressNames::from_kallsyms, path_);
}

KernelNames::~KernelNames() {
    if (names_ && !table_.is_valid() && !folder_.empty() && !machine_.empty())
        if (const std::string content = KernelTable::format(*names_, machine_); !content.empty())
            platform::write_private_file(folder_, file_, content);
}

std::optional<std::pair<std::string, uint64_t>> KernelNames::at(uint64_t address) {
    if (table_.is_valid() && table_.covers(address))
        return table_.at(address);
    if (!names_)
        names_ = reading_.valid() ? reading_.get() : AddressNames::from_kallsyms(path_);
    return names_->at(address);
}

} // namespace plumb::symbols
