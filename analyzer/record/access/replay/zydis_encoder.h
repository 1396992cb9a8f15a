// Zydis's decoder and encoder, for code that runs loops again: opened by name, as the recorder decodes only where it must.
#pragma once

#if defined(__x86_64__) && __has_include(<Zydis/Zydis.h>)
#define PLUMB_CAN_REPLAY 1
#include <Zydis/Zydis.h>

#include "record/access/loops/replayable_loop.h"

#include <optional>
#include <span>
#include <vector>

namespace plumb::record {

// The library is there already where anything was decoded; its structures change between minor versions.
struct ZydisEncoder {
    decltype(&ZydisDecoderInit) init = nullptr;
    decltype(&ZydisDecoderDecodeFull) decode = nullptr;
    decltype(&ZydisEncoderDecodedInstructionToEncoderRequest) request = nullptr;
    decltype(&ZydisEncoderEncodeInstruction) encode = nullptr;
    decltype(&ZydisRegisterGetLargestEnclosing) enclosing = nullptr;
    decltype(&ZydisMnemonicGetString) mnemonic_name = nullptr;

    static const ZydisEncoder* get(); // null: there is none

  private:
    ZydisEncoder();
    bool works_ = false;
};

struct DecodedInstruction {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    int memory = -1; // which operand
    int access = -1; // see ReplayInstruction
};

// Nothing: one of them is no instruction, or accesses memory in other than the one place that is given for it.
std::optional<std::vector<DecodedInstruction>> decoded(const ZydisEncoder& library, std::span<const ReplayInstruction> instructions);

} // namespace plumb::record

#endif
