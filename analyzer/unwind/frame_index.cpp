#include "unwind/frame_index.h"

#include "platform/unwind/unwind_cfi.h" // of the shim

#include <algorithm>

namespace plumb::unwind {

namespace {

shim::FrameEntries entries_of(const FrameSection& section, uint64_t shift) {
    const unsigned char* const copy = section.bytes.data();
    return {{copy, copy + section.bytes.size()}, section.is_debug ? copy : nullptr, shift};
}

// Bytes of the entry that begins `left` bytes before the end, with the field that says so; 0: it is not whole.
uint64_t entry_bytes(const unsigned char* entry, uint64_t left) {
    uint32_t short_length;
    if (left < sizeof short_length)
        return 0;
    std::memcpy(&short_length, entry, sizeof short_length);
    if (short_length != 0xffffffff)
        return short_length <= left - sizeof short_length ? sizeof short_length + short_length : 0;
    uint64_t length; // of the 64-bit format, whose entries are passed over
    constexpr uint64_t kField = sizeof short_length + sizeof length;
    if (left < kField)
        return 0;
    std::memcpy(&length, entry + sizeof short_length, sizeof length);
    return length <= left - kField ? kField + length : 0;
}

} // namespace

FrameIndex::FrameIndex(FrameSection section) : section_(std::move(section)) {
    const unsigned char* const copy = section_.bytes.data();
    const shim::FrameEntries all = entries_of(section_, shift());
    for (size_t at = 0, bytes = 0; (bytes = entry_bytes(copy + at, section_.bytes.size() - at)) != 0; at += bytes) {
        const shim::CodeRange code = shim::read_entry_range(copy + at, all);
        const uint64_t begin = code.begin - shift();
        if (code.bytes > 0 && begin + code.bytes > begin)
            entries_.push_back({begin, begin + code.bytes, at});
    }
    std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.begin < b.begin; });
}

uint64_t FrameIndex::shift() const {
    return section_.is_debug ? 0 : reinterpret_cast<uint64_t>(section_.bytes.data()) - section_.address;
}

const FrameIndex::Entry* FrameIndex::entry_at(uint64_t address) const {
    const auto behind = std::upper_bound(entries_.begin(), entries_.end(), address,
                                         [](uint64_t place, const Entry& entry) { return place < entry.begin; });
    return behind != entries_.begin() && address < behind[-1].end ? &behind[-1] : nullptr;
}

std::optional<FunctionRange> FrameIndex::range_at(uint64_t address) const {
    const Entry* const entry = entry_at(address);
    return entry ? std::optional(FunctionRange{entry->begin, entry->end}) : std::nullopt;
}

uint64_t FrameIndex::rule_at(uint64_t address) const {
    shim::UnwindRule rule;
    rule.cfa = shim::CfaKind::no_table;
    if (const Entry* const entry = entry_at(address))
        rule = shim::read_entry_rule(section_.bytes.data() + entry->offset, address + shift(), entries_of(section_, shift()));
    return rule.pack();
}

} // namespace plumb::unwind
