// Programs that handle the processor's flags themselves: they would read the alignment flag that is not theirs, and what
// they do with it could not be distinguished from the tool's own doing. They are not watched.
#pragma once

#include <stdint.h>

namespace plumb::shim {

// The first instruction in [start, end), readable code, that moves the flags as a whole between the stack and a register
// or changes them on the stack: pushf before pop, popf behind push, and their kin. 0: there is none. Not meant:
// functions that save and restore their caller's flags, and the old way to ask whether there is a cpuid instruction.
// Candidates are found by their bytes (some GB/s) and count if decoding the code before them leads to them; needs
// the decoder. Signal-safe.
uint64_t find_flag_code(uint64_t start, uint64_t end);

} // namespace plumb::shim
