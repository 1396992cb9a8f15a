// Reads call-frame information (.eh_frame, .debug_frame) of this architecture, as the loader mapped it or from a copy that keeps
// distances. Signal-safe, allocates nothing, takes no lock. The recorder uses it too, on other processes' files. Format: Linux
// Standard Base 5.0 ("Exception Frames"), DWARF 5 section 6.4, System V ABI for x86-64, DWARF for the Arm 64-bit Architecture.
#pragma once

#include "platform/unwind/unwind_rule.h"

namespace plumb::shim {

// Memory that may be read. By default all of it: what the loader mapped is trusted as far as the loader trusts it.
struct ReadableBytes {
    const uint8_t* begin = nullptr;
    const uint8_t* end = reinterpret_cast<const uint8_t*>(~uintptr_t{0});
    bool contain(const uint8_t* at, uint64_t bytes) const {
        // As numbers: between far pointers that are not of one object the compiler assumes what does not hold.
        const uintptr_t from = reinterpret_cast<uintptr_t>(at), limit = reinterpret_cast<uintptr_t>(end);
        return from >= reinterpret_cast<uintptr_t>(begin) && from <= limit && bytes <= limit - from;
    }
};

// The rule that holds at `pc` in the module whose .eh_frame_hdr is mapped at `header`.
// For a return address pass the address minus one: the call, not what follows it.
// CfaKind::no_table when no entry of the table covers `pc`. Any content is safe that lies in `readable`.
// In a copy, `pc` counts as the copy's addresses do, which are larger by `moved` than those that the linker gave.
UnwindRule read_unwind_rule(const void* header, uint64_t pc, ReadableBytes readable = {}, uint64_t moved = 0);

// A section of entries to which no table leads. Any content is safe that lies in `readable`.
struct FrameEntries {
    ReadableBytes readable;
    const uint8_t* debug_frame = nullptr; // its first byte: of .debug_frame. Null: of .eh_frame
    uint64_t moved = 0; // as above. Addresses in .debug_frame are the linker's: 0
};

// The rule of one entry at `pc`; no_table: it is none that describes this code.
UnwindRule read_entry_rule(const uint8_t* entry, uint64_t pc, const FrameEntries& entries);

struct CodeRange {
    uint64_t begin = 0, bytes = 0;
};

// What an entry describes; of 0 bytes: nothing, or in a way that is not followed here.
CodeRange read_entry_range(const uint8_t* entry, const FrameEntries& entries);

} // namespace plumb::shim
