#include "record/access/replay/wide_form.h"

#include "record/access/replay/form_writer.h"
#include "record/access/replay/packed_accesses.h"
#include "record/access/replay/packed_instructions.h"

#include <algorithm>
#include <plumb/trace_format.h>
#include <string>
#include <string_view>

namespace plumb::record {

#if defined(PLUMB_CAN_REPLAY)

namespace {

constexpr unsigned kYmmBytes = 2 * kXmmBytes, kVectors = 2; // at once

bool moves(std::string_view name) {
    return name.starts_with("mov") && (name.ends_with("aps") || name.ends_with("apd") || name.ends_with("ups") || name.ends_with("upd") ||
                                       name.ends_with("dqa") || name.ends_with("dqu"));
}

bool is_root(std::string_view name) { return name == "sqrtps" || name == "sqrtpd"; }

bool computes_packed(std::string_view name) {
    if (!name.ends_with("ps") && !name.ends_with("pd"))
        return false;
    const std::string_view operation = name.substr(0, name.size() - 2);
    return is_root(name) || operation == "add" || operation == "sub" || operation == "mul" || operation == "div" || operation == "max" ||
           operation == "min";
}

bool is_narrow(const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY ? operand.size == 8 * kXmmBytes : is_vector(operand) && operand.size == 8 * kXmmBytes;
}

bool can_be_wide(const DecodedInstruction& each, std::string_view name) {
    return !is_vex(each) && (moves(name) || is_whole(name) || computes_packed(name)) &&
           std::all_of(each.operands, each.operands + each.instruction.operand_count_visible, is_narrow);
}

// Returns the number of the access among the wide ones, -1: there is none. False: it cannot be.
bool add_access(const DecodedInstruction& each, const std::vector<LoopAccess>& loop, PackedAccesses& accesses, int& access) {
    access = -1;
    if (each.access < 0)
        return true;
    const LoopAccess& own = loop[static_cast<size_t>(each.access)];
    if (own.round == 0 && (own.flags & trace::kAlignStore))
        return false;
    access = accesses.of_width(each.access, kYmmBytes);
    return true;
}

bool add_wide(const DecodedInstruction& each, const std::string& name, int access, FormWriter& writer) {
    std::vector<ZydisEncoderOperand> operands;
    for (int i = 0; i < each.instruction.operand_count_visible; ++i)
        operands.push_back(i == each.memory ? memory_operand(kYmmBytes) : vector_operand(number_of(each.operands[i].reg.value), kYmmBytes));
    if (!moves(name) && !is_root(name)) // AVX names the result by itself
        operands.insert(operands.begin(), operands.front());
    return writer.append(name, operands, access);
}

} // namespace

bool computes_narrow(std::span<const ReplayInstruction> instructions) {
    const ZydisEncoder* library = ZydisEncoder::get();
    const auto loop = library ? decoded(*library, instructions) : std::nullopt;
    if (!loop)
        return false;
    bool computes = false;
    for (const DecodedInstruction& each : *loop) {
        if (each.instruction.meta.isa_set == ZYDIS_ISA_SET_X87)
            return false;
        if (!has_vector(each))
            continue;
        const std::string name = plain_name(*library, each);
        if (!can_be_wide(each, name))
            return false;
        computes |= computes_packed(name);
    }
    return computes;
}

std::optional<PackedForm> wide_form(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses) {
    const ZydisEncoder* library = ZydisEncoder::get();
    const auto loop = library ? decoded(*library, instructions) : std::nullopt;
    if (!loop || passes_on_in_memory(accesses, kVectors))
        return std::nullopt;
    PackedForm form;
    form.lanes = kVectors;
    form.vector_bytes = kYmmBytes;
    form.element_bytes = 4;
    PackedAccesses made(accesses, kVectors, 1, equal_parts(*library, *loop));
    FormWriter writer(*library, true);
    for (size_t i = 0; i < loop->size(); ++i) {
        const DecodedInstruction& each = (*loop)[i];
        if (!has_vector(each)) {
            ReplayInstruction copy = instructions[i];
            if (each.access >= 0)
                copy.access = made.once(each.access);
            writer.append_as_it_is(copy);
            continue;
        }
        const std::string name = plain_name(*library, each);
        if (computes_packed(name) && name.ends_with("pd"))
            form.element_bytes = 8;
        int access = -1;
        if (!add_access(each, accesses, made, access) || !add_wide(each, name, access, writer))
            return std::nullopt;
    }
    if (made.made_adjacent())
        return std::nullopt;
    form.instructions = writer.take();
    form.accesses = made.take();
    return form;
}

#else

bool computes_narrow(std::span<const ReplayInstruction>) { return false; }

std::optional<PackedForm> wide_form(std::span<const ReplayInstruction>, const std::vector<LoopAccess>&) { return std::nullopt; }

#endif

} // namespace plumb::record
