#include "record/access/replay/packed_form.h"

#include "record/access/replay/form_writer.h"
#include "record/access/replay/packed_accesses.h"
#include "record/access/replay/packed_instructions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace plumb::record {

#if defined(PLUMB_CAN_REPLAY)

namespace {

constexpr unsigned kVectorRegisters = 16;

class Packer {
  public:
    Packer(const ZydisEncoder& library, const std::vector<DecodedInstruction>& loop, std::span<const ReplayInstruction> code,
           const std::vector<LoopAccess>& accesses, PackedWidth width, unsigned copies)
        : library_(library), loop_(loop), code_(code), loop_accesses_(accesses), names_(names_of(library, loop)), is_vex_(any_is_vex(loop)),
          vex_(is_vex_ || width == PackedWidth::wide), vector_bytes_(kXmmBytes * (is_vex_ ? 2 : 1) * (width == PackedWidth::wide ? 2 : 1)),
          lanes_(vector_bytes_ / widest_element()), copies_(copies), accesses_(accesses, lanes_, copies, equal_parts(library, loop)),
          writer_(library, vex_) {}

    std::optional<PackedForm> made() {
        if (vector_bytes_ > 2 * kXmmBytes || !find_registers() || passes_on_in_memory(loop_accesses_, lanes_ * copies_))
            return std::nullopt;
        for (copy_ = 0; copy_ < copies_; ++copy_) {
            accesses_.begin_copy(copy_);
            for (size_t i = 0; i < loop_.size(); ++i)
                if (!add(i))
                    return std::nullopt;
        }
        form_.lanes = lanes_ * copies_;
        form_.vector_bytes = vector_bytes_;
        form_.element_bytes = vector_bytes_ / lanes_;
        form_.instructions = writer_.take();
        form_.made_adjacent = accesses_.made_adjacent();
        form_.accesses = accesses_.take();
        return std::move(form_);
    }

  private:
    static std::vector<std::string> names_of(const ZydisEncoder& library, const std::vector<DecodedInstruction>& loop) {
        std::vector<std::string> names;
        for (const DecodedInstruction& each : loop)
            names.push_back(plain_name(library, each));
        return names;
    }

    static bool any_is_vex(const std::vector<DecodedInstruction>& loop) {
        return std::ranges::any_of(loop, [](const DecodedInstruction& each) { return has_vector(each) && is_vex(each); });
    }

    unsigned widest_element() const { // bytes
        for (size_t i = 0; i < loop_.size(); ++i)
            if (const Elements each = elements_of(names_[i]); has_vector(loop_[i]) && std::max(each.to, each.from) == 8)
                return 8;
        return 4;
    }

    // What is carried over needs registers of its own in each copy; a packed operand in memory may need one to be loaded into.
    bool find_registers() {
        std::set<unsigned> used, written, carried;
        for (const DecodedInstruction& each : loop_) {
            std::set<unsigned> writes;
            for (int i = 0; i < each.instruction.operand_count_visible; ++i) {
                const ZydisDecodedOperand& operand = each.operands[i];
                if (!is_vector(operand))
                    continue;
                const unsigned number = number_of(operand.reg.value);
                used.insert(number);
                if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) && !written.contains(number) && !is_merged_only(each, i))
                    carried.insert(number);
                if (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
                    writes.insert(number);
            }
            written.insert(writes.begin(), writes.end());
        }
        std::erase_if(carried, [&](unsigned number) { return !written.contains(number); });
        form_.chains = static_cast<unsigned>(carried.size());
        std::vector<unsigned> left;
        for (unsigned number = 0; number < kVectorRegisters; ++number)
            if (!used.contains(number))
                left.push_back(number);
        for (unsigned copy = 1; copy < copies_; ++copy)
            for (const unsigned number : carried) {
                if (left.empty())
                    return false;
                renamed_[{copy, number}] = left.back();
                left.pop_back();
            }
        if (!left.empty())
            spare_ = static_cast<int>(left.front());
        return true;
    }

    // A single element is put into a register whose others stay: nothing that a packed instruction needs.
    bool is_merged_only(const DecodedInstruction& each, int operand) const {
        const std::string name = plain_name(library_, each);
        return is_zeroing(name, each) ||
               (operand == 0 && (name.starts_with("cvt") || name.starts_with("sqrt") || name.starts_with("round") ||
                                 (name.starts_with("mov") && each.instruction.operand_count_visible == 2)));
    }

    ZydisRegister renamed(ZydisRegister reg, unsigned bytes) const {
        unsigned number = number_of(reg);
        if (const auto other = renamed_.find({copy_, number}); other != renamed_.end())
            number = other->second;
        return static_cast<ZydisRegister>((bytes > kXmmBytes ? ZYDIS_REGISTER_YMM0 : ZYDIS_REGISTER_XMM0) + static_cast<int>(number));
    }

    // The register is cleared only so that nothing waits for what was in it.
    bool only_clears(size_t i) const {
        if (!is_zeroing(names_[i], loop_[i]))
            return false;
        const ZydisRegister reg = loop_[i].operands[0].reg.value;
        for (size_t at = i + 1; at < loop_.size(); ++at)
            for (int operand = 0; operand < loop_[at].instruction.operand_count_visible; ++operand)
                if (is_vector(loop_[at].operands[operand]) && loop_[at].operands[operand].reg.value == reg)
                    return operand == 0 && is_merged_only(loop_[at], 0) && !is_zeroing(names_[at], loop_[at]);
        return false;
    }

    bool add(size_t i) {
        const DecodedInstruction& each = loop_[i];
        const std::string& name = names_[i];
        if (each.instruction.meta.isa_set == ZYDIS_ISA_SET_X87)
            return false;
        if (!has_vector(each)) {
            ReplayInstruction copy = code_[i];
            if (each.access >= 0)
                copy.access = accesses_.once(each.access);
            writer_.append_as_it_is(copy);
            return true;
        }
        if (compares_into_flags(name) || only_clears(i))
            return true;
        if (is_whole(name))
            return add_whole(each, name);
        const Elements elements = elements_of(name);
        if (elements.to == 0)
            return false;
        return name.starts_with("mov") ? add_move(each, elements.to) : add_operation(each, name, elements);
    }

    bool add_whole(const DecodedInstruction& each, const std::string& name) {
        int access = -1;
        if (each.access >= 0) {
            if (loop_accesses_[static_cast<size_t>(each.access)].round != 0)
                return false;
            access = accesses_.of_width(each.access, vector_bytes_);
        }
        std::vector<ZydisEncoderOperand> operands;
        for (int i = 0; i < each.instruction.operand_count_visible; ++i)
            operands.push_back(i == each.memory ? memory_operand(vector_bytes_) : vector(each.operands[i], vector_bytes_));
        if (vex_ && operands.size() == 2 && !name.starts_with("mov"))
            operands.insert(operands.begin(), operands.front());
        return writer_.append(name, operands, access);
    }

    // movss, movsd
    bool add_move(const DecodedInstruction& each, unsigned element) {
        const unsigned bytes = lanes_ * element;
        const int last = each.instruction.operand_count_visible - 1;
        if (each.memory < 0)
            return writer_.append("movaps", {vector(each.operands[0], bytes), vector(each.operands[last], bytes)}, -1);
        const int access = accesses_.of_elements(each.access, element);
        if (access < 0)
            return false;
        const ZydisEncoderOperand other = vector(each.operands[each.memory == 0 ? last : 0], bytes);
        return each.memory == 0 ? writer_.append(move_name(bytes), {memory_operand(bytes), other}, access)
                                : writer_.append(move_name(bytes), {other, memory_operand(bytes)}, access);
    }

    bool add_operation(const DecodedInstruction& each, const std::string& name, Elements elements) {
        if (name.starts_with("cvtsi2") && (each.memory < 0 || each.operands[each.memory].size != 32))
            return false;
        const std::string packed = packed_name(name);
        const unsigned to = lanes_ * elements.to, from = lanes_ * elements.from;
        const bool is_of_one = takes_one_vector(name);
        const int count = each.instruction.operand_count_visible;
        std::vector<ZydisEncoderOperand> operands;
        int access = -1;
        for (int i = 0; i < count; ++i) {
            if (is_of_one && is_vex(each) && i == 1)
                continue;
            const ZydisDecodedOperand& operand = each.operands[i];
            if (i == each.memory) {
                access = accesses_.of_elements(each.access, elements.from);
                if (access < 0)
                    return false;
                const bool may_lie_anywhere = vex_ || accesses_[access].round == 0 || loads_from_anywhere(packed);
                if (may_lie_anywhere && (from >= kXmmBytes || elements.converts)) {
                    operands.push_back(memory_operand(from));
                    continue;
                }
                if (spare_ < 0)
                    return false;
                const ZydisEncoderOperand loaded = vector_operand(static_cast<unsigned>(spare_), from);
                if (!writer_.append(move_name(from), {loaded, memory_operand(from)}, access))
                    return false;
                access = -1;
                operands.push_back(loaded);
            } else if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
                ZydisEncoderOperand number{};
                number.type = ZYDIS_OPERAND_TYPE_IMMEDIATE;
                number.imm.u = operand.imm.value.u;
                operands.push_back(number);
            } else if (is_vector(operand)) {
                operands.push_back(vector(operand, i == 0 ? to : from));
            } else {
                return false;
            }
        }
        if (vex_ && !is_vex(each) && !is_of_one)
            operands.insert(operands.begin(), operands.front());
        return writer_.append(packed, operands, access);
    }

    static std::string move_name(unsigned bytes) { return bytes == 8 ? "movsd" : "movups"; }

    ZydisEncoderOperand vector(const ZydisDecodedOperand& from, unsigned bytes) const {
        ZydisEncoderOperand operand{};
        operand.type = ZYDIS_OPERAND_TYPE_REGISTER;
        operand.reg.value = renamed(from.reg.value, bytes);
        return operand;
    }
    const ZydisEncoder& library_;
    const std::vector<DecodedInstruction>& loop_;
    const std::span<const ReplayInstruction> code_;
    const std::vector<LoopAccess>& loop_accesses_;
    const std::vector<std::string> names_;
    const bool is_vex_, vex_; // the loop is; the packed one
    const unsigned vector_bytes_, lanes_, copies_;
    PackedAccesses accesses_;
    FormWriter writer_;
    unsigned copy_ = 0;
    int spare_ = -1; // vector register that nothing uses
    std::map<std::pair<unsigned, unsigned>, unsigned> renamed_; // by copy and register
    PackedForm form_;
};

} // namespace

bool computes_scalars(std::span<const ReplayInstruction> instructions) {
    const ZydisEncoder* library = ZydisEncoder::get();
    const auto loop = library ? decoded(*library, instructions) : std::nullopt;
    if (!loop)
        return false;
    bool scalar = false;
    for (const DecodedInstruction& each : *loop) {
        if (!has_vector(each))
            continue;
        const std::string name = plain_name(*library, each);
        if (elements_of(name).to == 0 && !is_whole(name))
            return false;
        scalar |= computes(name);
    }
    return scalar;
}

std::optional<PackedForm> packed_form(std::span<const ReplayInstruction> instructions, const std::vector<LoopAccess>& accesses,
                                      PackedWidth width, unsigned copies) {
    const ZydisEncoder* library = ZydisEncoder::get();
    const auto loop = library ? decoded(*library, instructions) : std::nullopt;
    return loop ? Packer(*library, *loop, instructions, accesses, width, copies).made() : std::nullopt;
}

#else

bool computes_scalars(std::span<const ReplayInstruction>) { return false; }

std::optional<PackedForm> packed_form(std::span<const ReplayInstruction>, const std::vector<LoopAccess>&, PackedWidth, unsigned) {
    return std::nullopt;
}

#endif

} // namespace plumb::record
