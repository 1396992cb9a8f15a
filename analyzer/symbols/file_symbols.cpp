#include "symbols/file_symbols.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace plumb::symbols {

FileSymbols::FileSymbols(const DebugFileSearch& search, const ElfImage* image, const ElfImage* debug)
    : search_(search), image_(image), debug_(debug) {
    static const Dwfl_Callbacks kCallbacks = {
        .find_elf = dwfl_build_id_find_elf, // never asked: the file is given
        .find_debuginfo = &FileSymbols::find_debug_info,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = nullptr,
    };
    session_ = dwfl_begin(&kCallbacks);
    if (!session_)
        return;
    dwfl_report_begin(session_);
    const ElfImage* file = image_ ? image_ : debug_;
    // Base 0 plus the file's own addresses: what comes in and goes out are addresses inside the file.
    module_ = dwfl_report_elf(session_, "", file->path().c_str(), -1, 0, true);
    if (module_) {
        void** user = nullptr;
        dwfl_module_info(module_, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
        if (user)
            *user = this;
    }
    dwfl_report_end(session_, nullptr, nullptr);
}

// Distributions compress debug info, and libdw unfolds all sections of a file at once: hundreds of milliseconds.
void FileSymbols::open_debug_info() {
    if (is_debug_info_open_ || !module_)
        return;
    is_debug_info_open_ = true;
    dwarf_ = dwfl_module_getdwarf(module_, &debug_bias_);
    if (!dwarf_)
        return;
    const ElfImage* file = image_ ? image_ : debug_;
    uint64_t first = UINT64_MAX, last = 0;
    for (const Segment& segment : file->segments())
        if (segment.executable) {
            first = std::min(first, segment.address);
            last = std::max(last, segment.address + std::max<uint64_t>(segment.file_bytes, 1));
        }
    if (!image_) // a debug file's segments have lost their file sizes
        last = UINT64_MAX;
    units_ = std::make_unique<UnitIndex>(dwarf_, first - debug_bias_, last - debug_bias_);
}

FileSymbols::~FileSymbols() {
    data_.reset();
    open_units_.clear();
    symbols_.reset();
    if (session_)
        dwfl_end(session_);
}

// libdwfl asks twice: for the separate debug file, and for the file that dwz made out of common parts.
int FileSymbols::find_debug_info(Dwfl_Module*, void** user, const char*, Dwarf_Addr, const char*,
                                 const char* link, GElf_Word, char** result) {
    const auto* self = user ? static_cast<const FileSymbols*>(*user) : nullptr;
    if (!self)
        return -1;
    const ElfImage* holder = self->debug_ ? self->debug_ : self->image_;
    std::string path;
    if (link && holder && !holder->alternate_link().empty() && holder->alternate_link() == link)
        path = find_alternate_file(self->search_, *holder);
    else if (self->image_ && self->debug_)
        path = self->debug_->path();
    if (path.empty())
        return -1;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
        *result = strdup(path.c_str());
    return fd;
}

UnitFunctions* FileSymbols::unit_at(uint64_t address) {
    open_debug_info();
    if (!units_)
        return nullptr;
    const std::optional<Dwarf_Off> offset = units_->unit_at(address - debug_bias_);
    if (!offset)
        return nullptr;
    auto [entry, is_new] = open_units_.try_emplace(*offset);
    if (is_new) {
        Dwarf_Die die;
        if (dwarf_offdie(dwarf_, *offset, &die)) {
            entry->second = std::make_unique<UnitFunctions>(die);
            if (entry->second->lacks_split_file() && missing_split_file_.empty())
                missing_split_file_ = entry->second->split_file_name();
        }
    }
    return entry->second.get();
}

const SymbolTable& FileSymbols::symbol_table() {
    if (!symbols_)
        symbols_ = std::make_unique<SymbolTable>(module_, image_);
    return *symbols_;
}

std::optional<model::DataName> FileSymbols::static_at(uint64_t address, uint32_t width, uint64_t instruction) {
    if (!module_)
        return std::nullopt;
    open_debug_info();
    if (!data_)
        data_ = std::make_unique<DataNames>(image_ ? *image_ : *debug_, module_, dwarf_, debug_bias_, units_.get());
    std::vector<Dwarf_Die> scopes;
    if (instruction)
        if (std::optional<CodePlace> place = code_place(instruction))
            scopes = std::move(place->scopes);
    return data_->static_at(address, width, instruction, scopes);
}

std::optional<CodePlace> FileSymbols::code_place(uint64_t address) {
    UnitFunctions* unit = unit_at(address);
    if (!unit)
        return std::nullopt;
    CodePlace place{image_, module_, debug_bias_, address, unit->scopes_at(address - debug_bias_)};
    return place.scopes.empty() ? std::nullopt : std::optional(std::move(place));
}

std::optional<model::DataName> FileSymbols::local_at(uint64_t address, const model::DataAccess& access) {
    const std::optional<CodePlace> place = code_place(address);
    return place ? name_local(*place, access) : std::nullopt;
}

std::optional<model::DataName> FileSymbols::pointed_at(uint64_t address, const model::DataAccess& access) {
    const std::optional<CodePlace> place = code_place(address);
    return place ? name_by_type(*place, access) : std::nullopt;
}

std::optional<uint64_t> FileSymbols::function_start(uint64_t address) {
    if (!image_)
        return std::nullopt;
    if (!bounds_)
        bounds_ = std::make_unique<FunctionBounds>(*image_);
    return bounds_->start_of(address);
}

std::optional<CodeBounds> FileSymbols::function_bounds(uint64_t address) {
    if (!module_)
        return std::nullopt;
    UnitFunctions* const unit = unit_at(address);
    if (const auto found = unit ? unit->function_bounds(address - debug_bias_) : std::nullopt)
        return CodeBounds{found->begin + debug_bias_, found->end + debug_bias_};
    if (const std::optional<CodeBounds> found = symbol_table().bounds_of(address))
        return found;
    if (!image_)
        return std::nullopt;
    if (!bounds_)
        bounds_ = std::make_unique<FunctionBounds>(*image_);
    return bounds_->bounds_of(address);
}

std::string FileSymbols::producer_at(uint64_t address) {
    UnitFunctions* const unit = module_ ? unit_at(address) : nullptr;
    return unit ? unit->producer() : std::string();
}

std::vector<model::SourceFrame> FileSymbols::frames_at(uint64_t address) {
    std::vector<model::SourceFrame> frames;
    if (!module_)
        return frames;
    if (UnitFunctions* unit = unit_at(address))
        frames = unit->frames_at(address - debug_bias_);
    if (frames.empty() || frames.back().function.empty())
        name_by_symbol(address, frames);
    return frames;
}

std::vector<model::SourceFrame> FileSymbols::function_at(uint64_t address) {
    std::vector<model::SourceFrame> frames;
    if (module_)
        name_by_symbol(address, frames);
    return frames;
}

// Names the outermost of `frames`, which may be the first.
void FileSymbols::name_by_symbol(uint64_t address, std::vector<model::SourceFrame>& frames) {
    const std::optional<SymbolMatch> symbol = symbol_table().at(address);
    if (!symbol)
        return;
    if (frames.empty())
        frames.emplace_back();
    // With a source line (assembler, a lost .dwo file) the offset would only be noise.
    frames.back().function = symbol->name;
    if (frames.back().line == 0 && symbol->offset != 0) {
        char offset[32];
        std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(symbol->offset));
        frames.back().function += offset;
    }
}

} // namespace plumb::symbols
