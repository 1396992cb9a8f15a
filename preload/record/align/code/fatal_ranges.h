// The code that PLUMB_ALIGN_FATAL is limited to: PLUMB_ALIGN_RANGES names a file of lines "path, tab,
// hexadecimal first-last addresses in the file's own numbering". Without such a file all code that counts is meant.
#pragma once

#include <stdint.h>

namespace plumb::shim {

// Renewal, with the other code ranges: begin, then each module. Not signal-safe.
void begin_fatal_ranges();
void note_module_for_fatal_ranges(const char* path, uint64_t load_base);

// False when PLUMB_ALIGN_FATAL is not asked for. Signal-safe.
bool is_in_fatal_ranges(uint64_t address);

// The first unaligned access of such code: says so on stderr, and gives SIGBUS its default action, so that the
// instruction, executed again with the alignment flag set, ends the program where it stands. Signal-safe.
void prepare_fatal_end(uint64_t address);

} // namespace plumb::shim
