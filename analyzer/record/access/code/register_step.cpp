#include "record/access/code/register_step.h"

#include "platform/code/register_instruction.h" // of the shim

#include <optional>

namespace plumb::record {

namespace {

using Flags = RegisterStep::Flags;
using Operation = shim::RegisterInstruction::Operation;

LinearValue copy_of(int8_t number) {
    LinearValue value;
    value.first = number;
    return value;
}

LinearValue multiple_of(int8_t number, int32_t factor) {
    LinearValue value = copy_of(number);
    value.first_factor = factor;
    return value;
}

LinearValue constant_of(int64_t constant) {
    LinearValue value;
    value.constant = constant;
    return value;
}

LinearValue address_of(const shim::MemoryOperand& operand) {
    LinearValue value = copy_of(operand.base);
    if (operand.index != shim::kNoRegister) {
        value.second = operand.index;
        value.second_factor = operand.scale;
    }
    value.constant = operand.displacement;
    return value;
}

// to + sign * source
LinearValue sum_of(const shim::RegisterInstruction& instruction, int sign) {
    LinearValue value = copy_of(instruction.to);
    value.constant = sign * instruction.constant;
    if (instruction.source != shim::kNoRegister) {
        value.second = instruction.source;
        value.second_factor = sign;
    }
    return value;
}

bool is_of_itself(const shim::RegisterInstruction& instruction) { return instruction.to == instruction.source; }

// What the register is given; nothing: it is not known, or none is given anything.
std::optional<LinearValue> value_given(const shim::RegisterInstruction& instruction) {
    constexpr int64_t kMostShift = 30; // what a factor holds
    switch (instruction.operation) {
    case Operation::move:
    case Operation::extend_sign:
        return instruction.source != shim::kNoRegister ? copy_of(instruction.source) : constant_of(instruction.constant);
    case Operation::address:
        return address_of(instruction.address);
    case Operation::add:
        return sum_of(instruction, 1);
    case Operation::subtract:
        return is_of_itself(instruction) ? LinearValue{} : sum_of(instruction, -1);
    case Operation::exclusive_or:
        return is_of_itself(instruction) ? std::optional(LinearValue{}) : std::nullopt;
    case Operation::multiply:
        return multiple_of(instruction.source, static_cast<int32_t>(instruction.constant));
    case Operation::shift_left:
        if (instruction.constant < 0 || instruction.constant > kMostShift)
            return std::nullopt;
        return multiple_of(instruction.to, 1 << instruction.constant);
    default:
        return std::nullopt;
    }
}

// What a conditional jump behind it compares with zero.
std::optional<LinearValue> value_compared(const shim::RegisterInstruction& instruction) {
    switch (instruction.operation) {
    case Operation::add:
        return sum_of(instruction, 1);
    case Operation::subtract:
        return is_of_itself(instruction) ? std::nullopt : std::optional(sum_of(instruction, -1));
    case Operation::compare:
        return sum_of(instruction, -1);
    case Operation::test:
        return is_of_itself(instruction) ? std::optional(copy_of(instruction.to)) : std::nullopt;
    default:
        return std::nullopt;
    }
}

} // namespace

RegisterStep register_step(std::span<const uint8_t> bytes) {
    shim::RegisterInstruction instruction;
    RegisterStep step;
    if (!shim::decode_register_instruction(bytes.data(), bytes.size(), &instruction))
        return step;
    step.mixed = instruction.mixed;
    step.flags = instruction.keeps_flags ? Flags::kept : Flags::unknown;
    const bool extends = instruction.operation == Operation::extend_sign;
    if (const auto value = value_given(instruction)) {
        step.changed = instruction.to;
        step.sign_extended = extends;
        step.value = *value;
        step.value.narrow = !instruction.wide || extends;
    }
    if (const auto value = value_compared(instruction)) {
        step.flags = Flags::set;
        step.compared = *value;
        step.compared.narrow = !instruction.wide;
    }
    return step;
}

} // namespace plumb::record
