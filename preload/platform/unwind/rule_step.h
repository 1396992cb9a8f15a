// From one frame to its caller by an unwind rule, on whatever holds the stack: the program's own memory (unwind_step.h), or a
// copy of a part of it (the recorder).
#pragma once

#include "platform/unwind/unwind_rule.h"

#include <stdint.h>

namespace plumb::shim {

// A frame as its callee left it: `pc` is the return address (or, with `exact`, the interrupted instruction), `sp` the
// value of rsp once the callee has returned.
struct Frame {
    uint64_t pc;
    uint64_t sp;
    uint64_t bp;
    bool exact;

    uint64_t lookup_pc() const { return exact ? pc : pc - 1; }
};

enum class Step {
    caller,       // the frame was replaced by its caller's; its return address stood at sp - 8
    interrupted,  // by the frame that a signal interrupted, possibly on another stack
    outermost,    // there is no caller
    broken,       // there is one that cannot be found
};

struct StepFacts {
    bool uses_bp;        // the caller depends on this frame's rbp
    bool keeps_bp;       // the caller's rbp is this frame's
    uint8_t sp_distance; // of the caller's sp from the word that it was computed from, if it was loaded
    uint64_t bp_address; // else where it was loaded from, 0: not at all
    uint64_t sp_address; // where that word was loaded from, 0: the caller's sp was computed
};

// Stack: `bool load(address, uint64_t*)` and `void switch_stack(sp)`, what follows lies on another stack. With
// `bp_may_be_missing`, a caller's rbp that cannot be loaded is 0, and a frame that needs it ends the walk; else it ends here.
// Moves `sp` strictly towards the stack's end except across a signal.
template <bool bp_may_be_missing, class Stack>
Step step_by_rule(const UnwindRule& rule, Frame* frame, Stack* stack, StepFacts* facts) {
    // After a signal handler's return rsp points at the ucontext_t that the kernel pushed (x86-64: uc_flags, uc_link,
    // uc_stack, then the general registers r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip).
    constexpr uint64_t kRegisters = 40, kBp = kRegisters + 8 * 10, kSp = kRegisters + 8 * 15, kPc = kRegisters + 8 * 16;
    constexpr uint64_t kLeastPc = 4096; // nothing is mapped below
    facts->uses_bp = rule.uses_bp();
    facts->keeps_bp = rule.bp == BpKind::kept;
    facts->sp_distance = 0;
    facts->bp_address = 0;
    facts->sp_address = 0;

    Frame caller{};
    switch (rule.cfa) {
    case CfaKind::from_sp:
        caller.sp = frame->sp + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
        break;
    case CfaKind::from_bp:
        caller.sp = frame->bp + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
        break;
    case CfaKind::loaded_bp:
        facts->sp_address = frame->bp + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
        if (!stack->load(facts->sp_address, &caller.sp))
            return Step::broken;
        break;
    case CfaKind::loaded_sp:
        facts->sp_address = frame->sp + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
        facts->sp_distance = kReturnAddressBytes;
        if (!stack->load(facts->sp_address, &caller.sp))
            return Step::broken;
        caller.sp += kReturnAddressBytes;
        break;
    case CfaKind::signal_frame: {
        const uint64_t context = frame->sp;
        if (!stack->load(context + kPc, &caller.pc) || !stack->load(context + kSp, &caller.sp) ||
            !stack->load(context + kBp, &caller.bp) || caller.pc < kLeastPc)
            return Step::broken;
        caller.exact = true;
        *frame = caller;
        stack->switch_stack(caller.sp);
        return Step::interrupted;
    }
    case CfaKind::outermost:
        return Step::outermost;
    case CfaKind::no_table:
        // Code made at run time and some assembler have no table, but mostly keep the frame-pointer convention.
        caller.sp = frame->bp + 16;
        facts->keeps_bp = false;
        facts->bp_address = frame->bp;
        break;
    case CfaKind::none:
    case CfaKind::unknown:
        return Step::broken;
    }
    if (caller.sp <= frame->sp || caller.sp & 7 || !stack->load(caller.sp - 8, &caller.pc))
        return Step::broken;
    if (caller.pc == 0)
        return Step::outermost;
    if (caller.pc < kLeastPc)
        return Step::broken;

    if (rule.bp == BpKind::at_cfa)
        facts->bp_address = caller.sp + static_cast<uint64_t>(static_cast<int64_t>(rule.bp_offset));
    else if (rule.bp == BpKind::at_bp)
        facts->bp_address = frame->bp + static_cast<uint64_t>(static_cast<int64_t>(rule.bp_offset));
    if (facts->bp_address) {
        if (!stack->load(facts->bp_address, &caller.bp)) {
            if (!bp_may_be_missing || rule.cfa == CfaKind::no_table)
                return Step::broken;
            caller.bp = 0;
        }
    } else {
        caller.bp = rule.bp == BpKind::lost ? 0 : frame->bp;
        facts->keeps_bp = true;
    }
    *frame = caller;
    return Step::caller;
}

} // namespace plumb::shim
