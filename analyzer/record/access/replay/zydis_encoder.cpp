#include "record/access/replay/zydis_encoder.h"

#if defined(PLUMB_CAN_REPLAY)

#include <dlfcn.h>

#include <type_traits>

namespace plumb::record {

namespace {

bool is_hint(const ZydisDecodedInstruction& instruction) {
    return instruction.meta.category == ZYDIS_CATEGORY_NOP || instruction.meta.category == ZYDIS_CATEGORY_WIDENOP ||
           instruction.meta.category == ZYDIS_CATEGORY_PREFETCH;
}

} // namespace

ZydisEncoder::ZydisEncoder() {
    constexpr uint64_t kVersionMask = ~uint64_t{0} << 32;
    void* handle = dlopen("libZydis.so.4.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
    const auto version = reinterpret_cast<decltype(&ZydisGetVersion)>(dlsym(handle, "ZydisGetVersion"));
    if (!version || (version() & kVersionMask) != (ZYDIS_VERSION & kVersionMask))
        return;
    const auto find = [handle](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
        return function != nullptr;
    };
    works_ = find(init, "ZydisDecoderInit") && find(decode, "ZydisDecoderDecodeFull") &&
             find(request, "ZydisEncoderDecodedInstructionToEncoderRequest") && find(encode, "ZydisEncoderEncodeInstruction") &&
             find(enclosing, "ZydisRegisterGetLargestEnclosing") && find(mnemonic_name, "ZydisMnemonicGetString");
}

const ZydisEncoder* ZydisEncoder::get() {
    static const ZydisEncoder library;
    return library.works_ ? &library : nullptr;
}

std::optional<std::vector<DecodedInstruction>> decoded(const ZydisEncoder& library, std::span<const ReplayInstruction> instructions) {
    ZydisDecoder decoder;
    if (!ZYAN_SUCCESS(library.init(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return std::nullopt;
    std::vector<DecodedInstruction> result(instructions.size());
    for (size_t i = 0; i < result.size(); ++i) {
        DecodedInstruction& to = result[i];
        to.access = instructions[i].access;
        if (!ZYAN_SUCCESS(library.decode(&decoder, instructions[i].code.data(), instructions[i].length, &to.instruction,
                                         to.operands)))
            return std::nullopt;
        // Whatever accesses memory must do so in the one place that is given for it: the process is a copy of the recorder.
        for (int operand = 0; operand < to.instruction.operand_count; ++operand)
            if (to.operands[operand].type == ZYDIS_OPERAND_TYPE_MEMORY &&
                to.operands[operand].mem.type != ZYDIS_MEMOP_TYPE_AGEN && !is_hint(to.instruction)) {
                if (to.memory >= 0 || operand >= to.instruction.operand_count_visible)
                    return std::nullopt;
                to.memory = operand;
            }
        if ((to.access >= 0) != (to.memory >= 0))
            return std::nullopt;
    }
    return result;
}

} // namespace plumb::record

#endif
