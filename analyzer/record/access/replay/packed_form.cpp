#include "record/access/replay/packed_form.h"

#include "record/access/replay/access_layout.h"
#include "record/access/replay/zydis_encoder.h"
#include "support/magnitude.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace plumb::record {

#if defined(PLUMB_CAN_REPLAY)

namespace {

constexpr unsigned kXmmBytes = 16, kVectorRegisters = 16;

bool is_vector(ZydisRegister reg) {
    return (reg >= ZYDIS_REGISTER_XMM0 && reg <= ZYDIS_REGISTER_XMM31) || (reg >= ZYDIS_REGISTER_YMM0 && reg <= ZYDIS_REGISTER_ZMM31);
}

bool is_vector(const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_vector(operand.reg.value);
}

bool has_vector(const DecodedInstruction& each) {
    return std::any_of(each.operands, each.operands + each.instruction.operand_count_visible,
                       [](const ZydisDecodedOperand& operand) { return is_vector(operand); });
}

bool is_vex(const DecodedInstruction& each) { return each.instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX; }

// "addsd", also of vaddsd.
std::string plain_name(const ZydisEncoder& library, const DecodedInstruction& each) {
    std::string name = library.mnemonic_name(each.instruction.mnemonic);
    return is_vex(each) && name.starts_with('v') ? name.substr(1) : name;
}

std::optional<ZydisMnemonic> mnemonic_named(const ZydisEncoder& library, const std::string& name) {
    static const std::map<std::string, ZydisMnemonic> all = [&] {
        std::map<std::string, ZydisMnemonic> made;
        for (int i = ZYDIS_MNEMONIC_INVALID + 1; i <= ZYDIS_MNEMONIC_MAX_VALUE; ++i)
            made.emplace(library.mnemonic_name(static_cast<ZydisMnemonic>(i)), static_cast<ZydisMnemonic>(i));
        return made;
    }();
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(found->second);
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) { return std::ranges::find(names, name) != names.end(); }

// Elements of what an instruction on single ones takes and makes; 0: it is none.
struct Elements {
    unsigned to = 0, from = 0; // bytes
    bool converts = false;
};

Elements elements_of(std::string_view name) {
    if (name == "cvtss2sd")
        return {8, 4, true};
    if (name == "cvtsd2ss")
        return {4, 8, true};
    if (name == "cvtsi2sd")
        return {8, 4, true};
    if (name == "cvtsi2ss")
        return {4, 4, true};
    if (name.starts_with("cvt") || name.starts_with('p')) // to integers; pminsd is one of those
        return {};
    if (name.ends_with("sd"))
        return {8, 8, false};
    if (name.ends_with("ss"))
        return {4, 4, false};
    return {};
}

bool compares_into_flags(std::string_view name) { return is_one_of(name, {"ucomiss", "ucomisd", "comiss", "comisd"}); }

// Those that make whole vectors of whole vectors in scalar code as well: signs, masks and copies.
bool is_whole(std::string_view name) {
    return is_one_of(name, {"andps", "andpd", "andnps", "andnpd", "orps", "orpd", "xorps", "xorpd", "pxor", "por", "pand", "pandn", "movaps",
                            "movapd", "movdqa"});
}

bool computes(std::string_view name) { return elements_of(name).to != 0 && !name.starts_with("mov") && !compares_into_flags(name); }

bool is_zeroing(std::string_view name, const DecodedInstruction& each) {
    if (!is_one_of(name, {"xorps", "xorpd", "pxor"}) || each.memory >= 0)
        return false;
    const int count = each.instruction.operand_count_visible;
    return each.operands[count - 1].reg.value == each.operands[count - 2].reg.value;
}

unsigned number_of(ZydisRegister reg) {
    return static_cast<unsigned>(reg >= ZYDIS_REGISTER_ZMM0   ? reg - ZYDIS_REGISTER_ZMM0
                                 : reg >= ZYDIS_REGISTER_YMM0 ? reg - ZYDIS_REGISTER_YMM0
                                                              : reg - ZYDIS_REGISTER_XMM0);
}

// Those that walk an array without gaps: alone, or together with others of the same round, as in unrolled loops.
std::set<size_t> adjacent_ones(const std::vector<LoopAccess>& accesses) {
    std::set<size_t> adjacent;
    for (size_t i = 0; i < accesses.size(); ++i) {
        const LoopAccess& own = accesses[i];
        const int64_t round = static_cast<int64_t>(magnitude(own.round)), width = own.width;
        if (round == 0 || width == 0 || round % width != 0)
            continue;
        std::set<int64_t> places; // of a round, in elements from its own
        for (const LoopAccess& other : accesses) {
            const int64_t distance = static_cast<int64_t>(other.address - own.address);
            if (other.round == own.round && other.width == own.width && distance > -round && distance < round && distance % width == 0)
                places.insert((distance + round) % round / width);
        }
        if (static_cast<int64_t>(places.size()) * width == round)
            adjacent.insert(i);
    }
    return adjacent;
}

class Packer {
  public:
    Packer(const ZydisEncoder& library, const std::vector<DecodedInstruction>& loop, std::span<const ReplayInstruction> code,
           const std::vector<LoopAccess>& accesses, PackedWidth width, unsigned copies)
        : library_(library), loop_(loop), code_(code), accesses_(accesses), adjacent_(adjacent_ones(accesses)), copies_(copies) {
        bool is_double = false;
        for (const DecodedInstruction& each : loop) {
            const std::string name = plain_name(library, each);
            names_.push_back(name);
            is_double |= std::max(elements_of(name).to, elements_of(name).from) == 8 && has_vector(each);
            is_vex_ |= has_vector(each) && is_vex(each);
        }
        vex_ = is_vex_ || width == PackedWidth::wide;
        form_.vector_bytes = (is_vex_ ? 2 * kXmmBytes : kXmmBytes) * (width == PackedWidth::wide ? 2 : 1);
        lanes_ = form_.vector_bytes / (is_double ? 8 : 4);
        form_.lanes = lanes_ * copies;
    }

    std::optional<PackedForm> made() {
        if (form_.vector_bytes > 2 * kXmmBytes || !find_registers())
            return std::nullopt;
        for (copy_ = 0; copy_ < copies_; ++copy_)
            for (size_t i = 0; i < loop_.size(); ++i)
                if (!add(i))
                    return std::nullopt;
        return std::move(form_);
    }

  private:
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
                copy.access = moved(each.access, accesses_[static_cast<size_t>(each.access)].width, false);
            form_.instructions.push_back(copy);
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
            if (accesses_[static_cast<size_t>(each.access)].round != 0)
                return false;
            access = moved(each.access, form_.vector_bytes, true);
        }
        std::vector<ZydisEncoderOperand> operands;
        for (int i = 0; i < each.instruction.operand_count_visible; ++i)
            operands.push_back(i == each.memory ? memory(form_.vector_bytes) : vector(each.operands[i], form_.vector_bytes));
        if (vex_ && operands.size() == 2 && !name.starts_with("mov"))
            operands.insert(operands.begin(), operands.front());
        return append(name, operands, access);
    }

    // movss, movsd
    bool add_move(const DecodedInstruction& each, unsigned element) {
        const unsigned bytes = lanes_ * element;
        const int last = each.instruction.operand_count_visible - 1;
        if (each.memory < 0)
            return append("movaps", {vector(each.operands[0], bytes), vector(each.operands[last], bytes)}, -1);
        const int access = moved_elements(each.access, element);
        if (access < 0)
            return false;
        const ZydisEncoderOperand other = vector(each.operands[each.memory == 0 ? last : 0], bytes);
        return each.memory == 0 ? append(move_name(bytes), {memory(bytes), other}, access) : append(move_name(bytes), {other, memory(bytes)}, access);
    }

    bool add_operation(const DecodedInstruction& each, const std::string& name, Elements elements) {
        std::string packed = name;
        if (name.starts_with("cvtsi2")) {
            if (each.memory < 0 || each.operands[each.memory].size != 32)
                return false;
            packed = name.ends_with("sd") ? "cvtdq2pd" : "cvtdq2ps";
        } else if (elements.converts) {
            packed = name == "cvtss2sd" ? "cvtps2pd" : "cvtpd2ps";
        } else {
            packed[packed.size() - 2] = 'p';
        }
        const unsigned to = lanes_ * elements.to, from = lanes_ * elements.from;
        // Of a single element, other instructions with three operands take the rest from the second one.
        const bool is_of_one = elements.converts || name.starts_with("sqrt") || name.starts_with("rcp") || name.starts_with("rsqrt") ||
                               name.starts_with("round");
        const int count = each.instruction.operand_count_visible;
        std::vector<ZydisEncoderOperand> operands;
        int access = -1;
        for (int i = 0; i < count; ++i) {
            if (is_of_one && is_vex(each) && i == 1)
                continue;
            const ZydisDecodedOperand& operand = each.operands[i];
            if (i == each.memory) {
                access = moved_elements(each.access, elements.from);
                if (access < 0)
                    return false;
                const bool may_lie_anywhere = vex_ || form_.accesses[static_cast<size_t>(access)].round == 0 ||
                                              is_one_of(packed, {"cvtps2pd", "cvtdq2pd"});
                if (may_lie_anywhere && (from >= kXmmBytes || elements.converts)) {
                    operands.push_back(memory(from));
                    continue;
                }
                if (spare_ < 0)
                    return false;
                const ZydisEncoderOperand loaded = vector_number(static_cast<unsigned>(spare_), from);
                if (!append(move_name(from), {loaded, memory(from)}, access))
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
        return append(packed, operands, access);
    }

    static std::string move_name(unsigned bytes) { return bytes == 8 ? "movsd" : "movups"; }

    ZydisEncoderOperand vector_number(unsigned number, unsigned bytes) const {
        ZydisEncoderOperand operand{};
        operand.type = ZYDIS_OPERAND_TYPE_REGISTER;
        operand.reg.value =
            static_cast<ZydisRegister>((bytes > kXmmBytes ? ZYDIS_REGISTER_YMM0 : ZYDIS_REGISTER_XMM0) + static_cast<int>(number));
        return operand;
    }
    ZydisEncoderOperand vector(const ZydisDecodedOperand& from, unsigned bytes) const {
        ZydisEncoderOperand operand{};
        operand.type = ZYDIS_OPERAND_TYPE_REGISTER;
        operand.reg.value = renamed(from.reg.value, bytes);
        return operand;
    }
    // Where it is does not matter: replay_code() replaces it.
    static ZydisEncoderOperand memory(unsigned bytes) {
        ZydisEncoderOperand operand{};
        operand.type = ZYDIS_OPERAND_TYPE_MEMORY;
        operand.mem.base = ZYDIS_REGISTER_RAX;
        operand.mem.size = static_cast<ZyanU16>(bytes);
        return operand;
    }

    bool append(const std::string& name, const std::vector<ZydisEncoderOperand>& operands, int access) {
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
        form_.instructions.push_back(made);
        return true;
    }

    // Of an instruction on elements: as many of them as a vector has. -1: it stores to one place in every round.
    int moved_elements(int access, unsigned element) {
        const LoopAccess& own = accesses_[static_cast<size_t>(access)];
        if (own.round == 0 && (own.flags & trace::kAlignStore))
            return -1;
        return moved(access, lanes_ * element, true);
    }

    // Where the packed round makes this access. `spreads`: its elements, otherwise it is made once for all of them.
    int moved(int number, unsigned width, bool spreads) {
        const auto index = static_cast<size_t>(number);
        LoopAccess access = accesses_[index];
        const int64_t lanes = lanes_;
        if (access.round == 0) {
            access.address &= ~uint64_t{width - 1}; // the same number several times, as compilers lay out constants
        } else if (!spreads || adjacent_.contains(index)) {
            // What an unrolled round accesses side by side moves apart; arrays stay where they are.
            const uint64_t within = (access.address - first_of_group(index)) % magnitude(access.round);
            access.address += spreads ? within * (lanes_ - 1) : 0;
            if (access.round < 0 && spreads)
                access.address -= width - access.width;
            access.round *= lanes;
        } else { // an array of its own
            form_.made_adjacent = true;
            constexpr int kFarApart = 32; // bits
            constexpr uint64_t kBeside = 320; // bytes in a page: the same place in several pages makes loads wait for stores
            const uint64_t array = arrays_.try_emplace(access.address, arrays_.size() + 1).first->second;
            access.address = (access.address & ~uint64_t{width - 1}) + (array << kFarApart) + array * kBeside;
            access.round = (access.round < 0 ? -1 : 1) * static_cast<int64_t>(width);
        }
        access.width = static_cast<uint16_t>(width);
        access.address += copy_ * static_cast<uint64_t>(access.round);
        access.round *= copies_;
        form_.accesses.push_back(access);
        return static_cast<int>(form_.accesses.size()) - 1;
    }

    uint64_t first_of_group(size_t index) const {
        for (const AccessGroup& group : groups_of(accesses_))
            if (std::ranges::find(group.members, index) != group.members.end())
                return accesses_[group.members.front()].address;
        return accesses_[index].address;
    }

    const ZydisEncoder& library_;
    const std::vector<DecodedInstruction>& loop_;
    const std::span<const ReplayInstruction> code_;
    const std::vector<LoopAccess>& accesses_;
    const std::set<size_t> adjacent_;
    const unsigned copies_;
    std::vector<std::string> names_;
    bool is_vex_ = false, vex_ = false; // the loop is; the packed one
    unsigned lanes_ = 0, copy_ = 0;
    int spare_ = -1; // vector register that nothing uses
    std::map<std::pair<unsigned, unsigned>, unsigned> renamed_; // by copy and register
    std::map<uint64_t, uint64_t> arrays_; // by address: number
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
