#include "symbols/dwarf/code_of_sources.h"

#include "symbols/elf/debug_files.h"
#include "symbols/elf/elf_image.h"

#include <algorithm>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fnmatch.h>
#include <memory>
#include <unordered_map>

namespace plumb::symbols {

namespace {

using DwarfSession = std::unique_ptr<Dwarf, decltype(&dwarf_end)>;

// One unit's line table: each row holds up to the next one of its sequence.
class UnitLines {
  public:
    UnitLines(Dwarf_Die& unit, const std::vector<std::string>& globs) : globs_(globs) {
        Dwarf_Attribute attribute;
        if (const char* folder = dwarf_formstring(dwarf_attr(&unit, DW_AT_comp_dir, &attribute)))
            folder_ = folder;
        if (dwarf_getsrclines(&unit, &lines_, &count_) != 0)
            count_ = 0;
    }

    void add_to(std::vector<CodeRange>& ranges) {
        for (size_t i = 0; i + 1 < count_; ++i) {
            Dwarf_Line* const line = dwarf_onesrcline(lines_, i);
            bool is_last = true;
            Dwarf_Addr begin = 0, end = 0;
            if (dwarf_lineendsequence(line, &is_last) != 0 || is_last || dwarf_lineaddr(line, &begin) != 0 ||
                dwarf_lineaddr(dwarf_onesrcline(lines_, i + 1), &end) != 0 || begin >= end)
                continue;
            // Sections that the linker threw away leave their rows at address 0.
            if (begin != 0 && is_wanted(dwarf_linesrc(line, nullptr, nullptr)))
                ranges.push_back({begin, end});
        }
    }

  private:
    bool is_wanted(const char* source) {
        if (!source)
            return false;
        const auto [entry, is_new] = wanted_.try_emplace(source, false);
        if (is_new) {
            const std::string path = *source == '/' || folder_.empty() ? source : folder_ + "/" + source;
            entry->second = std::ranges::any_of(globs_, [&](const auto& glob) { return matches_source(path, glob); });
        }
        return entry->second;
    }

    const std::vector<std::string>& globs_;
    std::string folder_; // the compiler's working directory
    Dwarf_Lines* lines_ = nullptr;
    size_t count_ = 0;
    std::unordered_map<const char*, bool> wanted_; // by the table's own string
};

std::vector<CodeRange> merged(std::vector<CodeRange> ranges) {
    std::ranges::sort(ranges, {}, &CodeRange::begin);
    std::vector<CodeRange> whole;
    for (const CodeRange& range : ranges) {
        if (!whole.empty() && range.begin <= whole.back().end)
            whole.back().end = std::max(whole.back().end, range.end);
        else
            whole.push_back(range);
    }
    return whole;
}

} // namespace

bool matches_source(const std::string& path, const std::string& glob) {
    return fnmatch(glob.c_str(), path.c_str(), 0) == 0 || fnmatch(("*/" + glob).c_str(), path.c_str(), 0) == 0;
}

std::vector<CodeRange> code_of_sources(const std::string& image, const std::vector<std::string>& globs) {
    const std::unique_ptr<ElfImage> file = ElfImage::open(image);
    if (!file)
        return {};
    std::unique_ptr<ElfImage> debug;
    if (!file->has_debug_info())
        debug = find_debug_file({.sysroot = "", .directories = {"/usr/lib/debug"}, .debuginfod = true}, file.get(),
                                file->build_id());
    Elf* const elf = debug ? debug->elf() : file->elf();
    const DwarfSession dwarf(dwarf_begin_elf(elf, DWARF_C_READ, nullptr), dwarf_end);
    std::vector<CodeRange> ranges;
    Dwarf_CU* unit = nullptr;
    Dwarf_Die die;
    while (dwarf && dwarf_get_units(dwarf.get(), unit, &unit, nullptr, nullptr, &die, nullptr) == 0)
        UnitLines(die, globs).add_to(ranges);
    return merged(std::move(ranges));
}

} // namespace plumb::symbols
