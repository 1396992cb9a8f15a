// Where the runtime of a Go program keeps its goroutines, and what lies where in the description of one.
#pragma once

#include "symbols/elf/elf_image.h"

#include <cstdint>
#include <optional>

namespace plumb::symbols {

// Addresses are those of the file. Names are the runtime's own (src/runtime/runtime2.go, proc.go).
struct GoRuntime {
    uint64_t goroutines = 0;      // allgptr: points to an array of pointers to descriptions (struct g)
    uint64_t goroutine_count = 0; // allglen, 8 bytes
    uint64_t processor_count = 0; // gomaxprocs, 4 bytes
    uint64_t reasons = 0, reason_count = 0; // waitReasonStrings: pairs of pointer and length
    // Offsets in struct g.
    uint32_t stack_end = 0; // 8 bytes: the stack lies below
    uint32_t sp = 0, pc = 0, frame = 0; // 8 bytes each, of one that does not run; frame: its frame pointer
    uint32_t status = 0;    // 4 bytes
    uint32_t reason = 0;    // 1 byte
};

bool is_go(const ElfImage& image);

// From the linker's symbols and the debug info of package runtime. None: it is no Go program, or was linked without them
// (-ldflags "-s -w").
std::optional<GoRuntime> find_go_runtime(const ElfImage& image);

} // namespace plumb::symbols
