#include "record/access/replay/replay_code.h"

#include "record/access/replay/zydis_encoder.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>

namespace plumb::record {

#if defined(PLUMB_CAN_REPLAY)

namespace {

constexpr uint64_t kFillOffset = 32;
constexpr uint32_t kStackPointer = 1u << 4; // by the numbers of the encoding: rax, rcx, rdx, rbx, rsp, ...

struct Counter { // a register; -1: a place in memory, whose stores the loop's own ones have to wait for
    int reg = -1;
    uint64_t place = 0;
};

class Writer {
  public:
    explicit Writer(uint64_t place) : place_(place) {}

    void bytes(std::initializer_list<uint8_t> list) { code_.insert(code_.end(), list); }
    void append(std::span<const uint8_t> other) { code_.insert(code_.end(), other.begin(), other.end()); }
    template <class Number> void number(Number value) {
        uint8_t raw[sizeof value];
        std::memcpy(raw, &value, sizeof value);
        append(raw);
    }
    void load_constant(unsigned reg, uint64_t value) {
        bytes({static_cast<uint8_t>(0x48 | (reg >> 3)), static_cast<uint8_t>(0xb8 | (reg & 7))});
        number(value);
    }
    void load(unsigned reg, uint64_t from) { // mov from(%rip), reg
        bytes({static_cast<uint8_t>(0x48 | (reg >> 3 << 2)), 0x8b, static_cast<uint8_t>(0x05 | (reg & 7) << 3)});
        number(static_cast<int32_t>(from - here() - 4));
    }
    // lea reg, [reg + distance], which keeps the flags
    void advance(unsigned reg, int32_t distance) {
        bytes({static_cast<uint8_t>(0x48 | (reg >> 3) | (reg >> 3 << 2)), 0x8d,
               static_cast<uint8_t>(0x80 | (reg & 7) << 3 | (reg & 7))});
        if ((reg & 7) == 4) // r12 needs the longer form
            bytes({0x24});
        number(distance);
    }
    void relative(uint64_t place) { number(static_cast<int32_t>(place - here() - 4)); }
    void set(const Counter& counter, uint32_t value) { // movq $value, counter
        if (counter.reg >= 0) {
            load_constant(static_cast<unsigned>(counter.reg), value);
            return;
        }
        bytes({0x48, 0xc7, 0x05});
        number(static_cast<int32_t>(counter.place - here() - 8));
        number(value);
    }
    // decq counter; jnz to
    void loop(const Counter& counter, size_t to) {
        if (counter.reg >= 0) {
            const auto reg = static_cast<unsigned>(counter.reg);
            bytes({static_cast<uint8_t>(0x48 | (reg >> 3)), 0xff, static_cast<uint8_t>(0xc8 | (reg & 7))});
        } else {
            bytes({0x48, 0xff, 0x0d});
            number(static_cast<int32_t>(counter.place - here() - 4));
        }
        bytes({0x0f, 0x85});
        number(static_cast<int32_t>(static_cast<int64_t>(to) - static_cast<int64_t>(code_.size()) - 4));
    }
    void align() { // where a loop's beginning costs nothing
        while (here() % 64 != 0)
            bytes({0x90});
    }
    size_t size() const { return code_.size(); }
    std::vector<uint8_t> take() { return std::move(code_); }

  private:
    uint64_t here() const { return place_ + code_.size(); }
    const uint64_t place_;
    std::vector<uint8_t> code_;
};

// By the numbers of the encoding; what only makes an address that is replaced is not counted. Nothing: it changes the stack
// pointer.
std::optional<uint32_t> registers_used(const ZydisEncoder& library, const std::vector<DecodedInstruction>& instructions) {
    uint32_t used = kStackPointer;
    const auto number = [&](ZydisRegister reg) -> uint32_t {
        const ZydisRegister whole = library.enclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
        return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? 1u << (whole - ZYDIS_REGISTER_RAX) : 0;
    };
    for (const DecodedInstruction& each : instructions)
        for (int i = 0; i < each.instruction.operand_count; ++i) {
            const ZydisDecodedOperand& operand = each.operands[i];
            if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && i != each.memory)
                used |= number(operand.mem.base) | number(operand.mem.index);
            if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER)
                continue;
            used |= number(operand.reg.value);
            if (number(operand.reg.value) == kStackPointer && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
                return std::nullopt;
        }
    return used;
}

bool is_vector_load(const DecodedInstruction& each) {
    const ZydisMnemonic mnemonic = each.instruction.mnemonic;
    return each.instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && each.memory == 1 &&
           (mnemonic == ZYDIS_MNEMONIC_MOVUPS || mnemonic == ZYDIS_MNEMONIC_MOVUPD || mnemonic == ZYDIS_MNEMONIC_MOVDQU);
}

// Operations of SSE2 whose second operand may be a register or 16 aligned bytes in memory.
bool takes_vector_operand(const DecodedInstruction& each) {
    switch (each.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_ADDPD: case ZYDIS_MNEMONIC_ADDPS: case ZYDIS_MNEMONIC_SUBPD: case ZYDIS_MNEMONIC_SUBPS:
    case ZYDIS_MNEMONIC_MULPD: case ZYDIS_MNEMONIC_MULPS: case ZYDIS_MNEMONIC_DIVPD: case ZYDIS_MNEMONIC_DIVPS:
    case ZYDIS_MNEMONIC_MINPD: case ZYDIS_MNEMONIC_MINPS: case ZYDIS_MNEMONIC_MAXPD: case ZYDIS_MNEMONIC_MAXPS:
    case ZYDIS_MNEMONIC_ANDPD: case ZYDIS_MNEMONIC_ANDPS: case ZYDIS_MNEMONIC_ORPD: case ZYDIS_MNEMONIC_ORPS:
    case ZYDIS_MNEMONIC_XORPD: case ZYDIS_MNEMONIC_XORPS: case ZYDIS_MNEMONIC_PADDB: case ZYDIS_MNEMONIC_PADDW:
    case ZYDIS_MNEMONIC_PADDD: case ZYDIS_MNEMONIC_PADDQ: case ZYDIS_MNEMONIC_PSUBB: case ZYDIS_MNEMONIC_PSUBW:
    case ZYDIS_MNEMONIC_PSUBD: case ZYDIS_MNEMONIC_PSUBQ: case ZYDIS_MNEMONIC_PAND: case ZYDIS_MNEMONIC_POR:
    case ZYDIS_MNEMONIC_PXOR: case ZYDIS_MNEMONIC_PMULLW: case ZYDIS_MNEMONIC_PMULUDQ: case ZYDIS_MNEMONIC_PMADDWD:
        break;
    default:
        return false;
    }
    return each.instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && each.access < 0 &&
           each.instruction.operand_count_visible == 2 && each.operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

// The instruction that alone takes what `load` loads, -1: there is none, or others do as well.
int only_user(const std::vector<DecodedInstruction>& instructions, size_t load) {
    const ZydisRegister reg = instructions[load].operands[0].reg.value;
    int user = -1;
    for (size_t i = 0; i < instructions.size(); ++i)
        for (int operand = 0; i != load && operand < instructions[i].instruction.operand_count; ++operand) {
            const ZydisDecodedOperand& other = instructions[i].operands[operand];
            if (other.type != ZYDIS_OPERAND_TYPE_REGISTER || other.reg.value != reg)
                continue;
            if (user >= 0 || i < load || operand != 1 || !takes_vector_operand(instructions[i]))
                return -1;
            user = static_cast<int>(i);
        }
    return user;
}

// By instruction: the load that it takes in, -1: none. Such loads are marked as done with.
std::vector<int> folded_loads(const std::vector<DecodedInstruction>& instructions, const std::vector<LoopAccess>& accesses,
                              std::vector<bool>& is_done) {
    constexpr uint64_t kVector = 16;
    std::vector<int> folded(instructions.size(), -1);
    for (size_t i = 0; i < instructions.size(); ++i) {
        if (!is_vector_load(instructions[i]))
            continue;
        const LoopAccess& access = accesses[static_cast<size_t>(instructions[i].access)];
        const int user = only_user(instructions, i);
        if (user < 0 || access.width != kVector || access.address % kVector != 0 ||
            static_cast<uint64_t>(access.round) % kVector != 0)
            continue;
        folded[static_cast<size_t>(user)] = static_cast<int>(i);
        is_done[i] = true;
    }
    return folded;
}

struct Base {
    unsigned reg = 0;
    uint64_t start = 0; // its first value
};

// One register for each distance of rounds.
std::optional<std::map<int64_t, Base>> bases_of(const std::vector<LoopAccess>& accesses, uint32_t& used) {
    std::map<int64_t, Base> bases;
    for (const LoopAccess& access : accesses) {
        const auto [base, is_new] = bases.try_emplace(access.round, Base{0, access.address});
        base->second.start = std::min(base->second.start, access.address);
    }
    for (auto& [round, base] : bases) {
        base.reg = static_cast<unsigned>(std::countr_one(used));
        if (base.reg > 15)
            return std::nullopt;
        used |= 1u << base.reg;
    }
    return bases;
}

// What was left there might be a denormal number, with which arithmetic takes many times longer.
void clear_vectors(Writer& code) {
    if (__builtin_cpu_supports("avx")) {
        code.bytes({0xc5, 0xfc, 0x77}); // vzeroall
        return;
    }
    for (uint8_t reg = 0; reg < 8; ++reg) {
        const uint8_t both = static_cast<uint8_t>(0xc0 | reg << 3 | reg);
        code.bytes({0x0f, 0x57, both});       // xorps
        code.bytes({0x45, 0x0f, 0x57, both}); // of xmm8 and above
    }
}

// Numbers that arithmetic likes as well as those of the program. Upper halves that no instruction uses stay clear: where they are
// not, instructions of SSE wait for them.
void fill_vectors(Writer& code, uint64_t place, bool has_upper) {
    for (uint8_t reg = 0; reg < 16; ++reg) {
        const uint8_t operands = static_cast<uint8_t>(0x05 | (reg & 7) << 3);
        if (has_upper) {
            code.bytes({0xc4, static_cast<uint8_t>(reg < 8 ? 0xe2 : 0x62), 0x7d, 0x1a, operands}); // vbroadcastf128 place(%rip), ymm
        } else {
            if (reg >= 8)
                code.bytes({0x44});
            code.bytes({0x0f, 0x10, operands}); // movups place(%rip), xmm
        }
        code.relative(place);
    }
}

bool uses_upper(const std::vector<DecodedInstruction>& instructions) {
    return std::ranges::any_of(instructions, [](const DecodedInstruction& each) {
        return std::any_of(each.operands, each.operands + each.instruction.operand_count_visible, [](const ZydisDecodedOperand& operand) {
            return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && operand.reg.value >= ZYDIS_REGISTER_YMM0 &&
                   operand.reg.value <= ZYDIS_REGISTER_YMM31;
        });
    });
}

bool fits(int64_t value) { return value == static_cast<int32_t>(value); }

// `operand`: which one of `from` is the place in memory, whatever it is now.
bool append_moved(const ZydisEncoder& library, const DecodedInstruction& from, int operand, const LoopAccess& access, const Base& base,
                  uint64_t round, Writer& to) {
    const int64_t displacement = static_cast<int64_t>(access.address - base.start) + static_cast<int64_t>(round) * access.round;
    ZydisEncoderRequest request;
    if (!fits(displacement) ||
        !ZYAN_SUCCESS(library.request(&from.instruction, from.operands, from.instruction.operand_count_visible, &request)))
        return false;
    request.operands[operand].type = ZYDIS_OPERAND_TYPE_MEMORY;
    auto& memory = request.operands[operand].mem;
    memory.size = access.width;
    memory.base = static_cast<ZydisRegister>(ZYDIS_REGISTER_RAX + static_cast<int>(base.reg));
    memory.index = ZYDIS_REGISTER_NONE;
    memory.scale = 0;
    memory.displacement = displacement;
    uint8_t code[ZYDIS_MAX_INSTRUCTION_LENGTH];
    ZyanUSize length = sizeof code;
    if (!ZYAN_SUCCESS(library.encode(&request, code, &length)))
        return false;
    to.append({code, length});
    return true;
}

} // namespace

std::vector<uint8_t> replay_code(const ReplayPlan& plan, uint64_t place, uint64_t counters) {
    const ZydisEncoder* library = ZydisEncoder::get();
    if (!library)
        return {};
    const auto instructions = decoded(*library, plan.instructions);
    const auto used = instructions ? registers_used(*library, *instructions) : std::nullopt;
    uint32_t taken = used.value_or(0);
    const auto bases = used ? bases_of(plan.accesses, taken) : std::nullopt;
    if (!bases)
        return {};
    // The one of the sweeps last: it is used least.
    Counter passes{-1, counters}, sweeps{-1, counters + 8};
    for (Counter* counter : {&passes, &sweeps})
        if (const int reg = std::countr_one(taken); reg < 16) {
            counter->reg = reg;
            taken |= 1u << reg;
        }
    Writer code(place);
    code.bytes({0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57}); // push rbx, rbp, r12 to r15
    for (unsigned reg = 0; reg < 16; ++reg)
        if (1u << reg != kStackPointer && (*used >> reg & 1))
            code.load_constant(reg, 1); // whatever is divided or shifted by it
    clear_vectors(code);
    if (plan.fills)
        fill_vectors(code, counters + kFillOffset, uses_upper(*instructions));
    if (sweeps.reg >= 0)
        code.load(static_cast<unsigned>(sweeps.reg), sweeps.place);
    const size_t sweep = code.size();
    for (const auto& [round, base] : *bases)
        code.load_constant(base.reg, base.start);
    code.set(passes, static_cast<uint32_t>(plan.passes));
    code.align();
    const size_t pass = code.size();
    std::vector<bool> is_done(instructions->size());
    std::vector<int> folded(instructions->size(), -1);
    if (plan.folds)
        folded = folded_loads(*instructions, plan.accesses, is_done);
    for (uint64_t round = 0; round < plan.unrolled; ++round)
        for (size_t i = 0; i < instructions->size(); ++i) {
            const DecodedInstruction& each = (*instructions)[i];
            const int from = folded[i] >= 0 ? (*instructions)[static_cast<size_t>(folded[i])].access : each.access;
            if (is_done[i])
                continue;
            if (from < 0)
                code.append(std::span(plan.instructions[i].code).first(plan.instructions[i].length));
            else if (const LoopAccess& access = plan.accesses[static_cast<size_t>(from)];
                     !append_moved(*library, each, folded[i] >= 0 ? 1 : each.memory, access, bases->at(access.round), round, code))
                return {};
        }
    for (const auto& [round, base] : *bases) {
        const int64_t distance = round * static_cast<int64_t>(plan.unrolled);
        if (!fits(distance))
            return {};
        if (distance != 0)
            code.advance(base.reg, static_cast<int32_t>(distance));
    }
    code.loop(passes, pass);
    code.loop(sweeps, sweep);
    if (uses_upper(*instructions))
        code.bytes({0xc5, 0xf8, 0x77}); // vzeroupper
    code.bytes({0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3}); // pop them, ret
    return code.take();
}

#else

std::vector<uint8_t> replay_code(const ReplayPlan&, uint64_t, uint64_t) { return {}; }

#endif

} // namespace plumb::record
