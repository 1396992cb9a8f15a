// Which code counts. The program itself counts, and so does code that no module holds (JIT). Libraries of the system
// that nobody can cure do not, unless PLUMB_ALIGN_MODULES names them; the C library, the loader and the tool never do.
#pragma once

#include "platform/os/text.h"

#include <stdint.h>

namespace plumb::shim {

// Asks the loader for its modules. Not signal-safe. One thread at a time does it, a second one leaves it to the first.
void renew_code_ranges();

struct CodeFacts {
    bool excluded;
    bool left_alone; // also never rewritten: the C library, the loader and the tool
    bool fatal; // PLUMB_ALIGN_FATAL is meant for it (PLUMB_ALIGN_RANGES)
};
CodeFacts facts_of_code(uint64_t address); // signal-safe, a binary search

// Raised whenever ranges have changed: facts that were kept must be asked for again.
uint32_t code_ranges_generation();

// Where a module handles the processor's flags itself (flag_code.h); null: none does.
struct FlagCode {
    Text<128> module; // its base name
    uint64_t offset;  // of the instruction, from where the module is loaded
};
const FlagCode* code_that_handles_flags();

// A module of the Go runtime is loaded, which blocks signals by system calls of its own.
bool has_go_code();

} // namespace plumb::shim
