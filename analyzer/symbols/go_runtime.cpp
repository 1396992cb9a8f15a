#include "symbols/go_runtime.h"

#include "symbols/data/types.h"

#include <algorithm>
#include <cstring>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <memory>
#include <string_view>

namespace plumb::symbols {

namespace {

constexpr uint64_t kStringBytes = 16; // a pointer and a length
constexpr uint64_t kMostReasons = 256; // one byte

void find_symbols(const ElfImage& image, GoRuntime& runtime) {
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(image.elf(), section)) != nullptr;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_type != SHT_SYMTAB || header.sh_entsize == 0)
            continue;
        Elf_Data* const data = elf_getdata(section, nullptr);
        const uint64_t count = data ? data->d_size / header.sh_entsize : 0;
        for (uint64_t i = 0; i < count; ++i) {
            GElf_Sym symbol;
            const char* const text = gelf_getsym(data, static_cast<int>(i), &symbol)
                                         ? elf_strptr(image.elf(), header.sh_link, symbol.st_name)
                                         : nullptr;
            if (!text || std::strncmp(text, "runtime.", 8) != 0)
                continue;
            const std::string_view name = text + 8;
            if (name == "allgptr")
                runtime.goroutines = symbol.st_value;
            else if (name == "allglen")
                runtime.goroutine_count = symbol.st_value;
            else if (name == "gomaxprocs")
                runtime.processor_count = symbol.st_value;
            else if (name == "waitReasonStrings") {
                runtime.reasons = symbol.st_value;
                runtime.reason_count = std::min(symbol.st_size / kStringBytes, kMostReasons);
            }
        }
    }
}

std::optional<Dwarf_Die> child_named(Dwarf_Die* parent, int tag, const char* name) {
    Dwarf_Die child;
    for (int more = dwarf_child(parent, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
        const char* const found = dwarf_tag(&child) == tag ? dwarf_diename(&child) : nullptr;
        if (found && !std::strcmp(found, name))
            return child;
    }
    return std::nullopt;
}

// Of a member, or of a member of a member.
std::optional<uint32_t> offset_of(Dwarf_Die structure, std::initializer_list<const char*> names) {
    uint64_t offset = 0;
    for (const char* const name : names) {
        auto member = child_named(&structure, DW_TAG_member, name);
        const auto range = member ? range_of_member(&*member) : std::nullopt;
        auto type = member ? type_of(&*member) : std::nullopt;
        if (!range || !type)
            return std::nullopt;
        offset += range->offset;
        structure = *type;
    }
    return static_cast<uint32_t>(offset);
}

std::optional<Dwarf_Die> description_of_goroutines(Dwarf* debug_info) {
    Dwarf_CU* unit = nullptr;
    Dwarf_Die top;
    while (dwarf_get_units(debug_info, unit, &unit, nullptr, nullptr, &top, nullptr) == 0) {
        const char* const package = dwarf_diename(&top);
        if (package && !std::strcmp(package, "runtime"))
            if (const auto found = child_named(&top, DW_TAG_structure_type, "runtime.g"))
                return found;
    }
    return std::nullopt;
}

} // namespace

bool is_go(const ElfImage& image) {
    return std::ranges::any_of(image.sections(), [](const Section& section) {
        return section.name == ".gopclntab" || section.name == ".data.rel.ro.gopclntab" || section.name == ".note.go.buildid";
    });
}

std::optional<GoRuntime> find_go_runtime(const ElfImage& image) {
    if (!is_go(image) || !image.has_debug_info())
        return std::nullopt;
    GoRuntime runtime;
    find_symbols(image, runtime);
    if (!runtime.goroutines || !runtime.goroutine_count || !runtime.processor_count || !runtime.reasons)
        return std::nullopt;
    const std::unique_ptr<Dwarf, decltype(&dwarf_end)> debug_info(dwarf_begin_elf(image.elf(), DWARF_C_READ, nullptr), dwarf_end);
    const auto goroutine = debug_info ? description_of_goroutines(debug_info.get()) : std::nullopt;
    if (!goroutine)
        return std::nullopt;
    const auto stack_end = offset_of(*goroutine, {"stack", "hi"}), sp = offset_of(*goroutine, {"sched", "sp"}),
               pc = offset_of(*goroutine, {"sched", "pc"}), frame = offset_of(*goroutine, {"sched", "bp"}),
               status = offset_of(*goroutine, {"atomicstatus"}), reason = offset_of(*goroutine, {"waitreason"});
    if (!stack_end || !sp || !pc || !frame || !status || !reason)
        return std::nullopt;
    runtime.stack_end = *stack_end;
    runtime.sp = *sp;
    runtime.pc = *pc;
    runtime.frame = *frame;
    runtime.status = *status;
    runtime.reason = *reason;
    return runtime;
}

} // namespace plumb::symbols
