#include "symbols/resolver.h"

#include "support/error.h"
#include "symbols/address_names.h"
#include "symbols/elf/debug_files.h"
#include "symbols/elf/debuginfod.h"
#include "symbols/file_symbols.h"
#include "symbols/frame_cache.h"
#include "symbols/kernel_names.h"
#include "symbols/shown_sources.h"
#include "symbols/elf/vdso_image.h"

#include <cstdio>
#include <cstring>
#include <ctime>
#include <elf.h>
#include <map>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include <unordered_map>

namespace plumb::symbols {

namespace {

using model::DataAccess;
using model::DataName;
using model::Module;
using model::SourceFrame;

std::string hex(uint64_t value) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

std::string file_name(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string identity_of(const ElfImage* file) {
    return file ? file->path() + "|" + std::to_string(file->file_bytes()) + "|" +
                      std::to_string(file->modified_ns())
                : "-";
}

// One file of the run, as far as it is needed: found and verified at once, its symbols read when asked for.
struct File {
    std::string shown; // for SourceFrame::module
    std::unique_ptr<ElfImage> image, debug;
    std::unique_ptr<FileSymbols> symbols;
    std::string cache_key;
    FrameCache::Frames* cached = nullptr;
    FrameCache::Frames* cached_functions = nullptr; // by symbols alone
    bool noted_split = false;
    bool is_own = false; // a program of this host that the run's user can have recorded: its sources may be shown
};

class ElfResolver final : public model::SourceResolver {
  public:
    explicit ElfResolver(Options options)
        : options_(std::move(options)), cache_(options_.cache_file),
          search_{options_.sysroot, options_.debug_directories,
                  options_.debuginfod && debuginfod_configured()},
          shown_(options_.source_maps, options_.sysroot) {
        if (options_.names_kernel && options_.same_boot)
            kernel_.emplace(options_.root, options_.machine_folder);
    }
    ~ElfResolver() override { cache_.save(); }

    std::vector<SourceFrame> resolve(const Module& module, uint64_t address) override;
    std::vector<SourceFrame> resolve_symbol(const Module& module, uint64_t address) override;
    std::optional<DataName> name_static(const Module& module, uint64_t address, uint32_t width,
                                        uint64_t instruction) override;
    std::optional<DataName> name_local(const Module& code, const DataAccess& access) override;
    std::optional<DataName> name_by_type(const Module& code, const DataAccess& access) override;
    std::string called_function(const Module& module, uint64_t after_call) override;
    std::optional<model::FunctionCode> function_code(const Module& module, uint64_t address) override;
    std::vector<std::string> notes() const override;
    bool may_show(const std::string& file) const override {
        verify(file);
        return shown_.may_show(file);
    }

  private:
    enum class Detail { lines, function };
    std::vector<SourceFrame> resolve_in_file(const Module& module, uint64_t address, Detail detail);
    std::vector<SourceFrame> resolve_kernel(uint64_t address);
    std::vector<SourceFrame> resolve_generated(const Module& module, uint64_t address);
    File& file_of(const Module& module);
    void open_file(const Module& module, File& file);
    std::unique_ptr<ElfImage> open_image(const Module& module, const std::string& path);
    std::unique_ptr<ElfImage> open_by_name(const Module& module);
    static std::optional<uint64_t> address_in_file(const File& file, const Module& module, uint64_t address);
    void finish(std::vector<SourceFrame>& frames, File& file, std::optional<uint64_t> cached_at);
    void finish(std::optional<DataName>& name) const;
    void map_source(std::string& path) const;
    void verify(const std::string& source) const;
    FileSymbols& symbols_of(File& file) const;
    std::optional<std::pair<FileSymbols*, uint64_t>> code_at(const Module& code, uint64_t address);
    const AddressNames& perf_map_of(uint32_t pid);

    Options options_;
    FrameCache cache_;
    DebugFileSearch search_;
    std::unordered_map<std::string, File> files_; // by path and build id
    std::unordered_map<uint32_t, AddressNames> perf_maps_;
    std::optional<KernelNames> kernel_; // nothing: it has no names
    std::vector<std::string> notes_;
    // The cache may have come along with the run and name any file: its frames show no source before the program's own debug
    // info names it at the same address.
    struct CachedFrame {
        File* file;
        uint64_t inside;
    };
    mutable std::unordered_map<std::string, CachedFrame> unverified_; // by source
    mutable ShownSources shown_;
    const size_t requested_before_ = debuginfod_requests(); // by other resolvers of this process
};

std::vector<SourceFrame> single(std::string function, std::string shown) {
    SourceFrame frame;
    frame.function = std::move(function);
    frame.module = std::move(shown);
    return {frame};
}

// What left this machine is said, too: which servers, and for how many files.
std::vector<std::string> ElfResolver::notes() const {
    std::vector<std::string> notes = notes_;
    if (const size_t asked = debuginfod_requests() - requested_before_; asked > 0)
        notes.insert(notes.begin(), "debug info of " + std::to_string(asked) + (asked == 1 ? " file" : " files") +
                                        " was requested by build id from " + debuginfod_servers() +
                                        " (DEBUGINFOD_URLS); --no-debuginfod asks no server");
    return notes;
}

std::vector<SourceFrame> ElfResolver::resolve(const Module& module, uint64_t address) {
    switch (module.kind) {
    case Module::Kind::kernel:
        return resolve_kernel(address);
    case Module::Kind::anonymous:
        return resolve_generated(module, address);
    default:
        return resolve_in_file(module, address, Detail::lines);
    }
}

std::vector<SourceFrame> ElfResolver::resolve_symbol(const Module& module, uint64_t address) {
    if (module.kind == Module::Kind::kernel || module.kind == Module::Kind::anonymous)
        return resolve(module, address);
    return resolve_in_file(module, address, Detail::function);
}

std::vector<SourceFrame> ElfResolver::resolve_kernel(uint64_t address) {
    const auto name = kernel_ ? kernel_->at(address) : std::nullopt;
    return single(name ? name->first : "", "[kernel]");
}

// Own copies in the run directory are trusted; what lies in /tmp must be of this user and no older than the run.
const AddressNames& ElfResolver::perf_map_of(uint32_t pid) {
    auto [entry, is_new] = perf_maps_.try_emplace(pid);
    if (!is_new || pid == 0)
        return entry->second;
    const std::string name = "/perf-" + std::to_string(pid) + ".map";
    if (!options_.run_directory.empty())
        entry->second = AddressNames::from_perf_map(options_.run_directory + name);
    const std::string path = options_.root + "/tmp" + name;
    struct stat status{};
    if (entry->second.empty() && options_.same_boot && lstat(path.c_str(), &status) == 0 &&
        S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        static_cast<uint64_t>(status.st_mtim.tv_sec) + 1 >= options_.begin_unix_ns / 1'000'000'000)
        entry->second = AddressNames::from_perf_map(path);
    return entry->second;
}

std::vector<SourceFrame> ElfResolver::resolve_generated(const Module& module, uint64_t address) {
    const auto name = perf_map_of(module.pid).at(address);
    return single(name ? name->first : "[anonymous]+" + hex(address - module.start), "[anonymous]");
}

std::unique_ptr<ElfImage> ElfResolver::open_image(const Module& module, const std::string& path) {
    std::string why;
    std::unique_ptr<ElfImage> image = ElfImage::open(path, &why);
    const std::string fallback = ": its functions are shown as addresses";
    if (!image) {
        notes_.push_back(path + " cannot be read here (" + why + ")" + fallback);
        return nullptr;
    }
    if (!module.build_id.empty() && !same_build_id(module.build_id, image->build_id())) {
        notes_.push_back(path + " changed since the run (recorded build id " + module.build_id + ", now " +
                         (image->build_id().empty() ? "none" : image->build_id()) + ")" + fallback);
        return nullptr;
    }
    if (module.build_id.empty() && module.deleted) {
        notes_.push_back(path + " was deleted or replaced during the run, and has no build id to check whether this is the "
                                "same file" +
                         fallback);
        return nullptr;
    }
    if (module.build_id.empty() && options_.begin_unix_ns && image->modified_ns() > options_.begin_unix_ns)
        notes_.push_back(path + " was written after the run began, and has no build id: lines may be wrong");
    return image;
}

// A name without a folder says only what the file is called: it is the file if it has the build id.
std::unique_ptr<ElfImage> ElfResolver::open_by_name(const Module& module) {
    std::vector<std::string> candidates;
    if (!options_.sysroot.empty())
        candidates.push_back(options_.sysroot + "/" + file_name(module.path));
    for (const std::string& path : options_.known_paths)
        if (file_name(path) == module.path)
            candidates.push_back(path);
    if (!module.build_id.empty())
        for (const std::string& path : candidates)
            if (auto image = ElfImage::open(path); image && same_build_id(module.build_id, image->build_id()))
                return image;
    notes_.push_back(module.path + " was recorded without its folder and " +
                     (module.build_id.empty() ? std::string("has no build id")
                                              : "no such file of build id " + module.build_id + " is known here") +
                     ": its functions are shown as addresses; --sysroot FOLDER looks for it in that folder");
    return nullptr;
}

void ElfResolver::open_file(const Module& module, File& file) {
    if (module.kind == Module::Kind::vdso) {
        file.shown = "[vdso]";
        file.image = open_own_vdso(module.build_id);
        return;
    }
    file.shown = module.path.empty() ? "[unknown]" : file_name(module.path);
    if (module.path.empty())
        return;
    if (module.path.starts_with('/'))
        file.image = open_image(module, options_.sysroot + module.path);
    else
        file.image = open_by_name(module);
    file.is_own = file.image && options_.own_run && !module.build_id.empty() &&
                  is_own_program(module.path, options_.run_directory);
    const std::string& build_id = file.image ? file.image->build_id() : module.build_id;
    if (!file.image || !file.image->has_debug_info())
        file.debug = find_debug_file(search_, file.image.get(), build_id);
    if (!file.image && file.debug)
        notes_.back().replace(notes_.back().rfind(": "), std::string::npos,
                              ": lines come from " + file.debug->path() + " alone");
}

File& ElfResolver::file_of(const Module& module) {
    auto [entry, is_new] = files_.try_emplace(module.path + '\n' + module.build_id);
    File& file = entry->second;
    if (!is_new)
        return file;
    open_file(module, file);
    if (file.image || file.debug) {
        file.cache_key = module.build_id.empty() ? module.path : module.build_id;
        const std::string identity = identity_of(file.image.get()) + ";" + identity_of(file.debug.get());
        file.cached = &cache_.frames_of(file.cache_key, identity);
        file.cached_functions = &cache_.frames_of(file.cache_key + " functions", identity);
    }
    return file;
}

// None: the mapping cannot be placed in the file.
std::optional<uint64_t> ElfResolver::address_in_file(const File& file, const Module& module, uint64_t address) {
    if (file.image)
        return file.image->address_of(module.file_offset + (address - module.start));
    // A debug file keeps the segments' addresses but not their place in the file. If there is one piece of code, its
    // first page was mapped at the start of the mapping.
    const Segment* code = nullptr;
    for (const Segment& segment : file.debug->segments()) {
        if (!segment.executable)
            continue;
        if (code)
            return std::nullopt;
        code = &segment;
    }
    if (!code)
        return std::nullopt;
    return (code->address & ~uint64_t{4095}) + (address - module.start);
}

void ElfResolver::finish(std::vector<SourceFrame>& frames, File& file, std::optional<uint64_t> cached_at) {
    for (SourceFrame& frame : frames) {
        frame.module = file.shown;
        map_source(frame.file);
        if (!file.is_own)
            continue;
        if (cached_at)
            unverified_.try_emplace(frame.file, CachedFrame{&file, *cached_at});
        else
            shown_.add(frame.file);
    }
}

void ElfResolver::finish(std::optional<DataName>& name) const {
    if (!name)
        return;
    map_source(name->file);
    map_source(name->holder_file);
}

void ElfResolver::map_source(std::string& path) const {
    for (const auto& [old_prefix, new_prefix] : options_.source_maps)
        if (path.starts_with(old_prefix)) {
            path.replace(0, old_prefix.size(), new_prefix);
            break;
        }
}

void ElfResolver::verify(const std::string& source) const {
    const auto cached = unverified_.find(source);
    if (cached == unverified_.end())
        return;
    for (SourceFrame& frame : symbols_of(*cached->second.file).frames_at(cached->second.inside)) {
        map_source(frame.file);
        shown_.add(frame.file);
    }
    unverified_.erase(cached);
}

FileSymbols& ElfResolver::symbols_of(File& file) const {
    if (!file.symbols)
        file.symbols = std::make_unique<FileSymbols>(search_, file.image.get(), file.debug.get());
    return *file.symbols;
}

std::vector<SourceFrame> ElfResolver::resolve_in_file(const Module& module, uint64_t address, Detail detail) {
    File& file = file_of(module);
    std::optional<uint64_t> inside;
    if (file.image || file.debug)
        inside = address_in_file(file, module, address);
    if (!inside)
        return single(file.shown + "+" + hex(module.file_offset + (address - module.start)), file.shown);

    auto [entry, is_new] = (detail == Detail::lines ? file.cached : file.cached_functions)->try_emplace(*inside);
    if (is_new) {
        FileSymbols& symbols = symbols_of(file);
        entry->second = detail == Detail::lines ? symbols.frames_at(*inside) : symbols.function_at(*inside);
        if (entry->second.empty())
            entry->second = single("", "");
        if (entry->second.back().function.empty())
            entry->second.back().function =
                file.shown + "+" + hex(file.symbols->function_start(*inside).value_or(*inside));
        cache_.changed();
        if (!file.symbols->missing_split_file().empty() && !file.noted_split) {
            file.noted_split = true;
            notes_.push_back(file.shown + ": debug info was split into " + file.symbols->missing_split_file() +
                             ", which is missing: inlined functions cannot be distinguished");
        }
    }
    std::vector<SourceFrame> frames = entry->second;
    finish(frames, file, is_new ? std::nullopt : inside);
    return frames;
}

std::optional<DataName> ElfResolver::name_static(const Module& module, uint64_t address, uint32_t width,
                                                 uint64_t instruction) {
    if (module.kind != Module::Kind::program && module.kind != Module::Kind::library)
        return std::nullopt;
    File& file = file_of(module);
    if (!file.image && !file.debug)
        return std::nullopt;
    const std::optional<uint64_t> start = address_in_file(file, module, module.start);
    if (!start)
        return std::nullopt;
    const uint64_t bias = module.start - *start; // of the process; all mappings of a file have the same
    if (!has_data_at(file.image ? *file.image : *file.debug, address - bias))
        return std::nullopt;
    std::optional<DataName> name =
        symbols_of(file).static_at(address - bias, width, instruction ? instruction - bias : 0);
    finish(name);
    return name;
}

// The file's symbols and the address in it.
std::optional<std::pair<FileSymbols*, uint64_t>> ElfResolver::code_at(const Module& code, uint64_t address) {
    if (code.kind != Module::Kind::program && code.kind != Module::Kind::library)
        return std::nullopt;
    File& file = file_of(code);
    if (!file.image && !file.debug)
        return std::nullopt;
    const std::optional<uint64_t> inside = address_in_file(file, code, address);
    return inside ? std::optional(std::pair(&symbols_of(file), *inside)) : std::nullopt;
}

std::optional<DataName> ElfResolver::name_local(const Module& code, const DataAccess& access) {
    const auto place = code_at(code, access.instruction);
    std::optional<DataName> name = place ? place->first->local_at(place->second, access) : std::nullopt;
    finish(name);
    return name;
}

std::optional<DataName> ElfResolver::name_by_type(const Module& code, const DataAccess& access) {
    const auto place = code_at(code, access.instruction);
    std::optional<DataName> name = place ? place->first->pointed_at(place->second, access) : std::nullopt;
    finish(name);
    return name;
}

// x86-64: call with a displacement of 32 bits from the next instruction.
std::string ElfResolver::called_function(const Module& module, uint64_t after_call) {
    constexpr uint64_t kCallBytes = 5;
    constexpr uint8_t kCall = 0xe8;
    constexpr std::string_view kStub = "@plt";
    const auto place = code_at(module, after_call - kCallBytes);
    const ElfImage* image = place ? file_of(module).image.get() : nullptr;
    const std::vector<uint8_t> code = image && image->machine() == EM_X86_64 ? image->code_at(place->second, kCallBytes)
                                                                             : std::vector<uint8_t>();
    if (code.size() != kCallBytes || code[0] != kCall)
        return {};
    int32_t displacement = 0;
    std::memcpy(&displacement, &code[1], sizeof displacement);
    const uint64_t target = place->second + kCallBytes + static_cast<uint64_t>(static_cast<int64_t>(displacement));
    const std::vector<SourceFrame> frames = place->first->function_at(target);
    if (frames.empty() || !frames.back().function.ends_with(kStub))
        return {};
    return frames.back().function.substr(0, frames.back().function.size() - kStub.size());
}

std::optional<model::FunctionCode> ElfResolver::function_code(const Module& module, uint64_t address) {
    constexpr uint64_t kMostBytes = 1 << 20; // of a function; damaged files say what they like
    const auto place = code_at(module, address);
    const ElfImage* image = place ? file_of(module).image.get() : nullptr;
    if (!image || image->machine() != EM_X86_64)
        return std::nullopt;
    const std::optional<CodeBounds> bounds = place->first->function_bounds(place->second);
    if (!bounds || bounds->end - bounds->begin > kMostBytes)
        return std::nullopt;
    model::FunctionCode code;
    code.start = address - (place->second - bounds->begin);
    code.bytes = image->code_at(bounds->begin, bounds->end - bounds->begin);
    code.producer = place->first->producer_at(place->second);
    return code.bytes.empty() ? std::nullopt : std::optional(std::move(code));
}

} // namespace

SourceMap parse_source_map(const std::string& text) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        throw Error("--source-map " + text + ": expected OLD=NEW, two path prefixes");
    return {text.substr(0, equals), text.substr(equals + 1)};
}

std::unique_ptr<model::SourceResolver> make_resolver(Options options) {
    return std::make_unique<ElfResolver>(std::move(options));
}

} // namespace plumb::symbols
