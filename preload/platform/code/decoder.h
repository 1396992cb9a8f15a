// The decoder of machine instructions: for x86-64 a library (Zydis), loaded privately and on demand; where it is missing nothing can
// be decoded. For A64 a part of plumb (a64_instruction.h), always there.
#pragma once

#include "platform/code/registers.h"

#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

#if defined(__aarch64__)
inline constexpr bool kDecodesA64 = true; // all instructions are of 4 bytes
inline constexpr const char* kDecoderName = "plumb's decoder";
#else
inline constexpr bool kDecodesA64 = false;
inline constexpr const char* kDecoderName = "libZydis";
#endif

// Loads the decoder. Allocates and takes the loader's lock: not signal-safe, once per process, before anything below.
// False: not there; `why` (may be null) is a sentence.
bool load_decoder(const char** why);
bool has_decoder(); // signal-safe

// Its length alone, in a third of the time; 0: not an instruction, or cut off after `bytes`.
unsigned instruction_length(const uint8_t* code, size_t bytes);

} // namespace plumb::shim
