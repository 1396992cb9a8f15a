#include "record/access/replay/form_writer.h"

#include "record/access/replay/packed_instructions.h"

#if defined(PLUMB_CAN_REPLAY)

#include <algorithm>

namespace plumb::record {

ZydisEncoderOperand vector_operand(unsigned number, unsigned bytes) {
    ZydisEncoderOperand operand{};
    operand.type = ZYDIS_OPERAND_TYPE_REGISTER;
    operand.reg.value = static_cast<ZydisRegister>((bytes > kXmmBytes ? ZYDIS_REGISTER_YMM0 : ZYDIS_REGISTER_XMM0) + static_cast<int>(number));
    return operand;
}

ZydisEncoderOperand memory_operand(unsigned bytes) {
    ZydisEncoderOperand operand{};
    operand.type = ZYDIS_OPERAND_TYPE_MEMORY;
    operand.mem.base = ZYDIS_REGISTER_RAX;
    operand.mem.size = static_cast<ZyanU16>(bytes);
    return operand;
}

bool FormWriter::append(const std::string& name, const std::vector<ZydisEncoderOperand>& operands, int access) {
    const auto mnemonic = mnemonic_named(library_, vex_ ? "v" + name : name);
    if (!mnemonic || operands.size() > ZYDIS_ENCODER_MAX_OPERANDS)
        return false;
    ZydisEncoderRequest request{};
    request.machine_mode = ZYDIS_MACHINE_MODE_LONG_64;
    request.allowed_encodings = vex_ ? ZYDIS_ENCODABLE_ENCODING_VEX : ZYDIS_ENCODABLE_ENCODING_LEGACY;
    request.mnemonic = *mnemonic;
    request.operand_count = static_cast<ZyanU8>(operands.size());
    std::ranges::copy(operands, request.operands);
    ReplayInstruction made;
    ZyanUSize length = made.code.size();
    if (!ZYAN_SUCCESS(library_.encode(&request, made.code.data(), &length)))
        return false;
    made.length = static_cast<uint8_t>(length);
    made.access = access;
    made_.push_back(made);
    return true;
}

} // namespace plumb::record

#endif
