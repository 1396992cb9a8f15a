#include "record/align/rewriting/trampoline.h"

#include "platform/code/alignment_flag.h"
#include "platform/code/single_step.h"

#include <initializer_list>
#include <string.h>
#include <ucontext.h>

namespace plumb::shim {

using trace::AlignCount;

namespace {

constexpr uint64_t kRedZone = 128;
constexpr uint64_t kPage = 4096;

class Emitter {
  public:
    Emitter(Trampoline& trampoline, uint8_t* code) : trampoline_(trampoline), code_(code) {
        trampoline_.mark_count = 0;
    }

    void bytes(std::initializer_list<uint8_t> list) {
        for (const uint8_t byte : list)
            put(&byte, 1);
    }
    void word32(uint32_t value) { put(&value, sizeof value); }
    void word64(uint64_t value) { put(&value, sizeof value); }
    void state(uint16_t state) {
        if (trampoline_.mark_count == sizeof trampoline_.marks / sizeof trampoline_.marks[0])
            failed_ = true;
        else
            trampoline_.marks[trampoline_.mark_count++] = {at_, state};
    }
    uint16_t here() const { return at_; }
    bool failed() const { return failed_; }
    void fail() { failed_ = true; }

    // A 32-bit displacement to `target`, an address, at the end of an instruction.
    void displacement(uint64_t target) {
        const int64_t distance = static_cast<int64_t>(target - (trampoline_.code + at_ + 4));
        if (distance != static_cast<int32_t>(distance))
            failed_ = true;
        word32(static_cast<uint32_t>(distance));
    }
    // Forward jumps: the displacement byte or word is filled in at the label.
    uint16_t short_jump(uint8_t opcode) {
        bytes({opcode, 0});
        return at_;
    }
    uint16_t long_jump(uint8_t condition) {
        bytes({0x0f, condition, 0, 0, 0, 0});
        return at_;
    }
    void short_label(uint16_t from) {
        code_[from - 1] = static_cast<uint8_t>(at_ - from);
        failed_ |= at_ - from > 127;
    }
    void long_label(uint16_t from) {
        const uint32_t distance = static_cast<uint32_t>(at_ - from);
        memcpy(code_ + from - 4, &distance, sizeof distance);
    }
    void instruction() {
        uint8_t moved[16];
        if (!move_code(trampoline_.instruction, moved, trampoline_.code + at_))
            failed_ = true;
        put(moved, trampoline_.instruction.length);
    }

  private:
    void put(const void* data, size_t size) {
        if (at_ + size > kMostTrampolineBytes) {
            failed_ = true;
            return;
        }
        memcpy(code_ + at_, data, size);
        at_ = static_cast<uint16_t>(at_ + size);
    }

    Trampoline& trampoline_;
    uint8_t* code_;
    uint16_t at_ = 0;
    bool failed_ = false;
};

uint32_t field(size_t offset) { return static_cast<uint32_t>(offset); }

// Moves between rax or rcx and a thread-local variable.
void save_rcx(Emitter& e, int32_t variable) { e.bytes({0x64, 0x48, 0x89, 0x0c, 0x25}), e.word32(field(variable)); }
void load_rcx(Emitter& e, int32_t variable) { e.bytes({0x64, 0x48, 0x8b, 0x0c, 0x25}), e.word32(field(variable)); }
void save_rax(Emitter& e, int32_t variable) { e.bytes({0x64, 0x48, 0x89, 0x04, 0x25}), e.word32(field(variable)); }
void load_rax(Emitter& e, int32_t variable) { e.bytes({0x64, 0x48, 0x8b, 0x04, 0x25}), e.word32(field(variable)); }

void skip_red_zone(Emitter& e) { e.bytes({0x48, 0x8d, 0x64, 0x24, 0x80}); }
void unskip_red_zone(Emitter& e) { e.bytes({0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0}); }
void push_flags(Emitter& e) { e.bytes({0x9c}); }
void pop_flags(Emitter& e) { e.bytes({0x9d}); }

int encoding(int dwarf_register) {
    static constexpr int8_t numbers[] = {0, 2, 1, 3, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15};
    return numbers[dwarf_register];
}

// rcx = the operand's address. All registers are the program's.
void load_address(Emitter& e, const Trampoline& trampoline) {
    const MemoryOperand& operand = trampoline.operand;
    if (operand.base == kNextInstruction) {
        e.bytes({0x48, 0xb9}); // movabs
        e.word64(trampoline.instruction.relative_target);
        return;
    }
    const int64_t displacement = operand.displacement;
    if (displacement != static_cast<int32_t>(displacement))
        e.fail();
    // lea with a SIB byte and 32 bits of displacement can say everything.
    const int base = operand.base == kNoRegister ? 5 : encoding(operand.base);
    const int index = operand.index == kNoRegister ? 4 : encoding(operand.index);
    const int scale = operand.scale >= 8 ? 3 : operand.scale >= 4 ? 2 : operand.scale >= 2 ? 1 : 0;
    const uint8_t rex = static_cast<uint8_t>(0x48 | (index >> 3) << 1 | (operand.base == kNoRegister ? 0 : base >> 3));
    const uint8_t modrm = operand.base == kNoRegister ? 0x0c : 0x8c;
    e.bytes({rex, 0x8d, modrm, static_cast<uint8_t>(scale << 6 | (index & 7) << 3 | (base & 7))});
    e.word32(static_cast<uint32_t>(static_cast<int32_t>(displacement)));
}

// ecx = 0 exactly if the address in rcx is aligned, without a change of flags: the low bits are moved to the top of cl.
void keep_low_bits(Emitter& e, uint16_t width) {
    const int log = width == 2 ? 1 : width == 4 ? 2 : width < 16 ? 3 : 4;
    int shift = 8 - log;
    for (; shift >= 3; shift -= 3)
        e.bytes({0x48, 0x8d, 0x0c, 0xcd, 0, 0, 0, 0}); // lea rcx, [rcx * 8]
    if (shift == 2)
        e.bytes({0x48, 0x8d, 0x0c, 0x8d, 0, 0, 0, 0}); // * 4
    else if (shift == 1)
        e.bytes({0x48, 0x8d, 0x0c, 0x09}); // rcx + rcx
    e.bytes({0x0f, 0xb6, 0xc9});           // movzx ecx, cl
}

void jump_back(Emitter& e, const Trampoline& trampoline) {
    e.bytes({0xe9});
    e.displacement(trampoline.address + trampoline.instruction.length);
}

void emit_aligned(Emitter& e, const Trampoline& trampoline, const TrampolineVariables& variables) {
    e.state(kRcxSaved);
    load_rcx(e, variables.saved_rcx);
    e.state(0);
    e.instruction();
    e.state(kExecuted);
    jump_back(e, trampoline);
}

// With the address in rcx and the counters in rax; changes rcx and flags.
void emit_counting(Emitter& e, uint16_t state, uint16_t width) {
    e.bytes({0x48, 0x39, 0x88}), e.word32(field(offsetof(AlignCount, lowest_address)));
    const uint16_t not_lower = e.short_jump(0x76); // jbe
    e.bytes({0x48, 0x89, 0x88}), e.word32(field(offsetof(AlignCount, lowest_address)));
    e.short_label(not_lower);
    e.bytes({0x48, 0x39, 0x88}), e.word32(field(offsetof(AlignCount, highest_address)));
    const uint16_t not_higher = e.short_jump(0x73); // jae
    e.bytes({0x48, 0x89, 0x88}), e.word32(field(offsetof(AlignCount, highest_address)));
    e.short_label(not_higher);
    e.bytes({0x81, 0xe1}), e.word32(kPage - 1);
    e.bytes({0x81, 0xf9}), e.word32(static_cast<uint32_t>(kPage - width));
    const uint16_t within_page = e.short_jump(0x76);
    e.bytes({0x48, 0xff, 0x80}), e.word32(field(offsetof(AlignCount, page_crossings)));
    e.short_label(within_page);
    e.state(state |= kPageCounted);
    e.bytes({0x83, 0xe1, 0x3f});
    e.bytes({0x48, 0xff, 0x80}), e.word32(field(offsetof(AlignCount, hits)));
    e.state(state |= kHitCounted);
    e.bytes({0x48, 0xff, 0x84, 0xc8}), e.word32(field(offsetof(AlignCount, residues)));
}

void emit_all(Emitter& e, Trampoline& trampoline, const TrampolineVariables& variables) {
    const uint16_t width = trampoline.operand.width;
    const bool counts = !trampoline.uncounted;
    const uint16_t counted = counts ? kPageCounted | kHitCounted | kResidueCounted : 0;
    uint16_t no_table = 0, no_counters = 0;
    emit_aligned(e, trampoline, variables);

    trampoline.entry = e.here();
    e.state(0);
    save_rcx(e, variables.saved_rcx);
    e.state(kRcxSaved);
    load_address(e, trampoline);
    keep_low_bits(e, width);
    e.bytes({0xe3, static_cast<uint8_t>(-(e.here() + 2))}); // jrcxz aligned
    if (e.here() > 128)
        e.fail();

    save_rax(e, variables.saved_rax);
    load_rcx(e, variables.saved_rcx);
    load_address(e, trampoline);
    uint16_t state = kRcxSaved | kRaxSaved;
    e.state(state);
    skip_red_zone(e);
    e.state(state |= kRedZoneSkipped);
    push_flags(e);
    e.state(state |= kFlagsPushed);
    e.bytes({0xf7, 0x04, 0x24}), e.word32(kAlignmentFlag); // testl
    const uint16_t not_armed = e.long_jump(0x84);
    if (counts) {
        load_rax(e, variables.counts);
        e.bytes({0x48, 0x85, 0xc0}); // test rax, rax
        no_table = e.long_jump(0x84);
        e.bytes({0x48, 0x8b, 0x80}), e.word32(trampoline.site * static_cast<uint32_t>(sizeof(AlignCount*)));
        e.bytes({0x48, 0x85, 0xc0}); // test rax, rax
        no_counters = e.long_jump(0x84);
        emit_counting(e, state, width);
        e.state(state |= counted);
    }
    e.bytes({0x48, 0x81, 0x24, 0x24}), e.word32(static_cast<uint32_t>(~kAlignmentFlag)); // andq
    e.state(state |= kFlagCleared);
    load_rax(e, variables.saved_rax);
    load_rcx(e, variables.saved_rcx);
    pop_flags(e);
    state = kRedZoneSkipped | kFlagCleared | counted;
    e.state(state);
    unskip_red_zone(e);
    e.state(state &= static_cast<uint16_t>(~kRedZoneSkipped));

    trampoline.step = e.here();
    e.instruction();
    e.state(state = kExecuted | kFlagCleared);
    skip_red_zone(e);
    e.state(state |= kRedZoneSkipped);
    push_flags(e);
    e.state(state | kFlagsPushed);
    e.bytes({0x48, 0x81, 0x0c, 0x24}), e.word32(kAlignmentFlag); // orq
    pop_flags(e);
    e.state(state = kExecuted | kRedZoneSkipped);
    unskip_red_zone(e);
    e.state(kExecuted);
    jump_back(e, trampoline);

    e.long_label(not_armed);
    if (counts) {
        e.long_label(no_table);
        e.long_label(no_counters);
    }
    state = kRcxSaved | kRaxSaved | kRedZoneSkipped | kFlagsPushed;
    e.state(state);
    load_rax(e, variables.saved_rax);
    pop_flags(e);
    e.state(kRcxSaved | kRedZoneSkipped);
    unskip_red_zone(e);
    e.state(kRcxSaved);
    e.bytes({0xe9});
    e.displacement(trampoline.code); // aligned
}

uint64_t* thread_variable(int32_t offset) {
    uint64_t thread_pointer;
    __asm__("movq %%fs:0, %0" : "=r"(thread_pointer));
    return reinterpret_cast<uint64_t*>(thread_pointer + static_cast<uint64_t>(static_cast<int64_t>(offset)));
}

void take_back(const Trampoline& trampoline, const TrampolineVariables& variables, uint16_t state,
               const greg_t* registers) {
    static constexpr int from_dwarf[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                         REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    auto* counts = *reinterpret_cast<AlignCount***>(thread_variable(variables.counts));
    AlignCount* count = counts ? counts[trampoline.site] : nullptr;
    if (!count)
        return;
    Registers values;
    for (int i = 0; i < 16; ++i)
        values[i] = static_cast<uint64_t>(registers[from_dwarf[i]]);
    values[kNextInstruction] = trampoline.address + trampoline.instruction.length;
    const uint64_t address = operand_address(trampoline.operand, values, 0);
    if (state & kPageCounted && address % kPage + trampoline.operand.width > kPage)
        --count->page_crossings;
    if (state & kHitCounted)
        --count->hits;
    if (state & kResidueCounted)
        --count->residues[address % 64];
}

} // namespace

bool is_trapping_width(uint16_t width) {
    return width == 2 || width == 4 || width == 8 || width == 10 || width == 16 || width == 32 || width == 64;
}

bool emit_trampoline(Trampoline* trampoline, const TrampolineVariables& variables, uint8_t* code) {
    if (!is_trapping_width(trampoline->operand.width) || trampoline->site > INT32_MAX / sizeof(AlignCount*))
        return false;
    Emitter emitter(*trampoline, code);
    emit_all(emitter, *trampoline, variables);
    trampoline->bytes = emitter.here();
    return !emitter.failed();
}

void leave_trampoline(const Trampoline& trampoline, const TrampolineVariables& variables, void* context) {
    auto* machine = &static_cast<ucontext_t*>(context)->uc_mcontext;
    greg_t* registers = machine->gregs;
    const uint64_t offset = static_cast<uint64_t>(registers[REG_RIP]) - trampoline.code;
    uint16_t state = 0;
    for (int i = 0; i < trampoline.mark_count && trampoline.marks[i].offset <= offset; ++i)
        state = trampoline.marks[i].state;
    if (state & kFlagsPushed) {
        uint64_t flags;
        memcpy(&flags, reinterpret_cast<void*>(registers[REG_RSP]), sizeof flags);
        constexpr uint64_t kResume = 1u << 16;
        const uint64_t kept = static_cast<uint64_t>(registers[REG_EFL]) & (kResume | kSingleStepFlag);
        registers[REG_EFL] = static_cast<greg_t>((flags & ~kSingleStepFlag) | kept);
        registers[REG_RSP] += 8;
    }
    if (state & kRedZoneSkipped)
        registers[REG_RSP] += static_cast<greg_t>(kRedZone);
    if (state & kFlagCleared)
        registers[REG_EFL] |= static_cast<greg_t>(kAlignmentFlag);
    if (state & kRaxSaved)
        registers[REG_RAX] = static_cast<greg_t>(*thread_variable(variables.saved_rax));
    if (state & kRcxSaved)
        registers[REG_RCX] = static_cast<greg_t>(*thread_variable(variables.saved_rcx));
    registers[REG_RIP] = static_cast<greg_t>(trampoline.address);
    if (state & kExecuted)
        registers[REG_RIP] += trampoline.instruction.length;
    else if (state & (kPageCounted | kHitCounted | kResidueCounted))
        take_back(trampoline, variables, state, registers);
}

} // namespace plumb::shim
