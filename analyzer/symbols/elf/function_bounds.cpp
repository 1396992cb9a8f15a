#include "symbols/elf/function_bounds.h"

#include <algorithm>
#include <cstring>
#include <dwarf.h>
#include <gelf.h>

namespace plumb::symbols {

namespace {

constexpr size_t kHeaderBytes = 12; // version, three encodings, address of .eh_frame, count
constexpr size_t kEntryBytes = 8;

template <typename T> T load(std::span<const char> bytes, size_t at) {
    T value{};
    if (at <= bytes.size() && bytes.size() - at >= sizeof value)
        std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

std::span<const char> content(Elf_Scn* section) {
    const Elf_Data* data = elf_rawdata(section, nullptr);
    return data && data->d_buf ? std::span(static_cast<const char*>(data->d_buf), data->d_size)
                               : std::span<const char>();
}

} // namespace

FunctionBounds::FunctionBounds(const ElfImage& image) {
    size_t names = 0;
    if (elf_getshdrstrndx(image.elf(), &names) != 0)
        return;
    std::span<const char> header;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(image.elf(), section)) != nullptr;) {
        GElf_Shdr shape;
        const char* name =
            gelf_getshdr(section, &shape) ? elf_strptr(image.elf(), names, shape.sh_name) : nullptr;
        if (!name || shape.sh_type == SHT_NOBITS)
            continue;
        if (!std::strcmp(name, ".eh_frame_hdr")) {
            header = content(section);
            table_base_ = shape.sh_addr;
        } else if (!std::strcmp(name, ".eh_frame")) {
            frames_ = content(section);
            frames_address_ = shape.sh_addr;
        }
    }
    constexpr int kRelativeToTable = DW_EH_PE_datarel | DW_EH_PE_sdata4;
    if (header.size() < kHeaderBytes || header[0] != 1 || header[2] != DW_EH_PE_udata4 ||
        header[3] != kRelativeToTable)
        return;
    const size_t entries = std::min<size_t>(load<uint32_t>(header, 8), (header.size() - kHeaderBytes) / kEntryBytes);
    table_ = header.subspan(kHeaderBytes, entries * kEntryBytes);
}

uint64_t FunctionBounds::function_at(size_t index) const {
    return table_base_ + static_cast<uint64_t>(int64_t{load<int32_t>(table_, index * kEntryBytes)});
}

// The table tells only where functions begin; the description behind it, how long they are. It is believed if it has
// the shape that compilers write: a 4-byte address relative to itself, which must be that of the table.
uint64_t FunctionBounds::length_of(size_t index) const {
    const uint64_t description =
        table_base_ + static_cast<uint64_t>(int64_t{load<int32_t>(table_, index * kEntryBytes + 4)});
    const uint64_t at = description - frames_address_ + 8; // behind length and pointer to the common part
    if (at >= frames_.size() || frames_.size() - at < 8)
        return 0;
    const uint64_t begin = frames_address_ + at + static_cast<uint64_t>(int64_t{load<int32_t>(frames_, at)});
    return begin == function_at(index) ? load<uint32_t>(frames_, at + 4) : 0;
}

std::optional<uint64_t> FunctionBounds::start_of(uint64_t address) const {
    const std::optional<CodeBounds> bounds = bounds_of(address);
    return bounds ? std::optional(bounds->begin) : std::nullopt;
}

std::optional<CodeBounds> FunctionBounds::bounds_of(uint64_t address) const {
    size_t low = 0, high = table_.size() / kEntryBytes; // the table is sorted; if it is not, no length fits
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (function_at(middle) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return std::nullopt;
    const uint64_t begin = function_at(low - 1), length = length_of(low - 1);
    return address - begin < length ? std::optional(CodeBounds{begin, begin + length}) : std::nullopt;
}

} // namespace plumb::symbols
