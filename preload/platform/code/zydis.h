// Zydis's own structures, for this folder and for what the recorder and the analyzer decode (analyzer/record/access/code,
// analyzer/code).
#pragma once

#include "platform/code/decoder.h"

#if defined(__x86_64__) && __has_include(<Zydis/Zydis.h>)
#define PLUMB_HAS_ZYDIS 1
#include <Zydis/Zydis.h>

namespace plumb::shim {

struct ZydisInstruction {
    ZydisDecodedInstruction decoded;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

// False: there is no decoder, or this is not an instruction. Signal-safe once the decoder is loaded.
bool decode_with_zydis(const uint8_t* code, size_t bytes, ZydisInstruction* instruction);

// As manuals write it, in lower case: "vaddsd". Empty: it has none, or there is no decoder. Signal-safe once that is loaded.
const char* mnemonic_name(ZydisMnemonic mnemonic);

// The DWARF number of a whole 64-bit register; kNoRegister: it is none.
int dwarf_number(ZydisRegister reg);

// Of the register that it is any part of; kNoRegister: not a general register.
int enclosing_number(ZydisRegister reg);

} // namespace plumb::shim

#endif
