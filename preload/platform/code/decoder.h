// The decoder of machine instructions (Zydis) is loaded privately and on demand; where it is missing, or on other
// architectures, nothing can be decoded.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

// Registers by their DWARF numbers (x86-64: 0 rax, 1 rdx, 2 rcx, 3 rbx, 4 rsi, 5 rdi, 6 rbp, 7 rsp, 8 to 15 r8 to r15),
// 16: the address of the next instruction.
inline constexpr int kNoRegister = -1;
inline constexpr int kStackPointer = 7;
inline constexpr int kNextInstruction = 16;
inline constexpr int kRegisterCount = 17;
using Registers = uint64_t[kRegisterCount];

// Loads the decoder. Allocates and takes the loader's lock: not signal-safe, once per process, before anything below.
// False: not there; `why` (may be null) is a sentence.
bool load_decoder(const char** why);
bool has_decoder(); // signal-safe

// Its length alone, in a third of the time; 0: not an instruction, or cut off after `bytes`.
unsigned instruction_length(const uint8_t* code, size_t bytes);

} // namespace plumb::shim
