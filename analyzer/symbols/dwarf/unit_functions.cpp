#include "symbols/dwarf/unit_functions.h"

#include "symbols/dwarf/scope_names.h"

#include <algorithm>
#include <dwarf.h>
#include <filesystem>

namespace plumb::symbols {

namespace {

constexpr int kMostOrigins = 8; // a copy of a copy of a declaration; a broken file may have a ring of them
constexpr int kMaxDepth = 200; // of nested DIEs: deeper nesting is damage

bool covers(Dwarf_Die* die, uint64_t address) { return dwarf_haspc(die, address) == 1; }

// The innermost of `die`'s children, at any depth of blocks, that holds `address` and is an inlined call, or a block if
// `with_blocks`; appended to `chain` from the outermost on.
void descend(Dwarf_Die die, uint64_t address, bool with_blocks, std::vector<Dwarf_Die>& chain) {
    for (int depth = 0; depth < kMaxDepth; ++depth) {
        Dwarf_Die child;
        if (dwarf_child(&die, &child) != 0)
            return;
        bool found = false;
        do {
            const int tag = dwarf_tag(&child);
            const bool is_block =
                tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
            if (tag != DW_TAG_inlined_subroutine && !is_block)
                continue;
            if (!covers(&child, address))
                continue;
            if (!is_block || with_blocks)
                chain.push_back(child);
            found = true;
            break;
        } while (dwarf_siblingof(&child, &child) == 0);
        if (!found)
            return;
        die = child;
    }
}

// By its number in the table of files of the die's unit; null: it has none. dwarf_decl_file() aborts on a unit without a table.
const char* named_file(Dwarf_Die* die, unsigned int attribute_name) {
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    Dwarf_Die unit;
    Dwarf_Files* files = nullptr;
    size_t count = 0;
    if (dwarf_formudata(dwarf_attr(die, attribute_name, &attribute), &number) != 0 || !dwarf_diecu(die, &unit, nullptr, nullptr) ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
        return nullptr;
    return dwarf_filesrc(files, number, nullptr, nullptr);
}

} // namespace

UnitFunctions::UnitFunctions(Dwarf_Die unit) : unit_(unit), content_(unit) {
    Dwarf_Attribute attribute;
    if (const char* folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute)))
        folder_ = folder;
    Dwarf_Half version = 0;
    uint8_t type = 0;
    Dwarf_Die own, split;
    if (dwarf_cu_info(unit_.cu, &version, &type, &own, &split, nullptr, nullptr, nullptr) == 0 &&
        type == DW_UT_skeleton) {
        if (split.addr)
            content_ = split;
        else
            lacks_split_file_ = true;
    }
    if (!lacks_split_file_)
        index_all(false);
}

// "../src/x.c" compiled in /build -> "/src/x.c". Lexically: the directories need not exist here.
std::string UnitFunctions::source_path(const char* path) const {
    std::string text = path;
    if (!text.starts_with('/') && !text.starts_with('<') && folder_.starts_with('/'))
        text = folder_ + "/" + text;
    if (text.find("/../") == text.npos && text.find("/./") == text.npos && text.find("//") == text.npos)
        return text;
    return std::filesystem::path(text).lexically_normal().string();
}

std::string UnitFunctions::split_file_name() const {
    Dwarf_Die unit = unit_;
    Dwarf_Attribute attribute;
    const char* name = dwarf_formstring(dwarf_attr(&unit, DW_AT_dwo_name, &attribute));
    if (!name)
        name = dwarf_formstring(dwarf_attr(&unit, DW_AT_GNU_dwo_name, &attribute));
    return name ? name : "";
}

// Shallow: only what may hold functions in the shapes that gcc and clang write: most DIEs of a unit are types and
// the insides of functions, and both are skipped. Deep looks everywhere.
void UnitFunctions::index(Dwarf_Die* parent, bool deep, int depth) {
    Dwarf_Die child;
    if (depth > kMaxDepth || dwarf_child(parent, &child) != 0)
        return;
    do {
        switch (dwarf_tag(&child)) {
        case DW_TAG_subprogram: {
            Dwarf_Addr base = 0, begin = 0, end = 0;
            bool has_code = false;
            for (ptrdiff_t next = 0; (next = dwarf_ranges(&child, next, &base, &begin, &end)) > 0;)
                if (begin < end) {
                    ranges_.push_back({begin, end});
                    functions_.push_back(child);
                    has_code = true;
                }
            if (deep || has_code) // nested procedures of Fortran and Ada
                index(&child, deep, depth + 1);
            break;
        }
        case DW_TAG_namespace:
        case DW_TAG_module:
            index(&child, deep, depth + 1);
            break;
        default:
            if (deep)
                index(&child, deep, depth + 1);
        }
    } while (dwarf_siblingof(&child, &child) == 0);
}

void UnitFunctions::index_all(bool deep) {
    ranges_.clear();
    functions_.clear();
    indexed_deep_ = deep;
    index(&content_, deep, 0);
    nested_ = NestedRanges(ranges_);
}

const Dwarf_Die* UnitFunctions::function_at(uint64_t address) {
    for (;;) {
        if (const std::optional<size_t> found = nested_.at(address))
            return &functions_[*found];
        if (indexed_deep_ || lacks_split_file_)
            return nullptr;
        index_all(true);
    }
}

const std::string& UnitFunctions::name_of(Dwarf_Die* function) {
    Dwarf_Die key = *function;
    Dwarf_Attribute attribute;
    Dwarf_Die origin; // all inlined copies of a function share it
    if (dwarf_attr(&key, DW_AT_abstract_origin, &attribute) && dwarf_formref_die(&attribute, &origin))
        key = origin;
    auto [entry, is_new] = names_.try_emplace(key.addr);
    if (is_new)
        entry->second = function_name(function);
    return entry->second;
}

void UnitFunctions::set_line(uint64_t address, model::SourceFrame& frame) {
    Dwarf_Line* line = dwarf_getsrc_die(&unit_, address);
    int number = 0;
    if (!line || dwarf_lineno(line, &number) != 0)
        return;
    if (const char* file = dwarf_linesrc(line, nullptr, nullptr))
        frame.file = source_path(file);
    frame.line = number > 0 ? static_cast<uint32_t>(number) : 0;
}

void UnitFunctions::set_call_site(Dwarf_Die* inlined, model::SourceFrame& caller) {
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0;
    if (const char* name = named_file(inlined, DW_AT_call_file))
        caller.file = source_path(name);
    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) == 0)
        caller.line = static_cast<uint32_t>(line);
}

void UnitFunctions::set_function_line(Dwarf_Die* function, model::SourceFrame& frame) {
    Dwarf_Die die = *function, origin;
    Dwarf_Attribute attribute;
    for (int step = 0; step < kMostOrigins && !dwarf_hasattr(&die, DW_AT_decl_file); ++step) {
        if (!(dwarf_attr(&die, DW_AT_abstract_origin, &attribute) || dwarf_attr(&die, DW_AT_specification, &attribute)) ||
            !dwarf_formref_die(&attribute, &origin))
            return;
        die = origin;
    }
    int line = 0;
    const char* const file = named_file(&die, DW_AT_decl_file);
    if (file && dwarf_decl_line(&die, &line) == 0 && line > 0 && source_path(file) == frame.file)
        frame.function_line = static_cast<uint32_t>(line);
}

std::optional<NestedRanges::Range> UnitFunctions::function_bounds(uint64_t address) {
    function_at(address); // looks deeper where that is needed
    const std::optional<size_t> found = nested_.at(address);
    return found ? std::optional(ranges_[*found]) : std::nullopt;
}

std::string UnitFunctions::producer() const {
    Dwarf_Die unit = content_;
    Dwarf_Attribute attribute;
    const char* text = dwarf_formstring(dwarf_attr(&unit, DW_AT_producer, &attribute));
    return text ? text : "";
}

std::vector<Dwarf_Die> UnitFunctions::scopes_at(uint64_t address) {
    std::vector<Dwarf_Die> scopes;
    if (const Dwarf_Die* function = function_at(address)) {
        scopes.push_back(*function);
        descend(*function, address, true, scopes);
    }
    return scopes;
}

std::vector<model::SourceFrame> UnitFunctions::frames_at(uint64_t address) {
    std::vector<Dwarf_Die> chain; // from the function inwards
    if (const Dwarf_Die* function = function_at(address)) {
        chain.push_back(*function);
        descend(*function, address, false, chain);
    }
    std::vector<model::SourceFrame> frames(std::max<size_t>(chain.size(), 1));
    set_line(address, frames.front());
    for (size_t i = 0; i < chain.size(); ++i) {
        Dwarf_Die& die = chain[chain.size() - 1 - i];
        frames[i].function = name_of(&die);
        set_function_line(&die, frames[i]);
        frames[i].inlined = i + 1 < chain.size();
        if (frames[i].inlined)
            set_call_site(&die, frames[i + 1]);
    }
    if (chain.empty() && frames.front().file.empty())
        frames.clear();
    return frames;
}

} // namespace plumb::symbols
