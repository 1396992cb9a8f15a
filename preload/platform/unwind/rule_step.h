// From one frame to its caller by an unwind rule, on whatever holds the stack: the program's own memory (unwind_step.h), or a
// copy of a part of it (the recorder).
#pragma once

#include "platform/unwind/unwind_registers.h"
#include "platform/unwind/unwind_rule.h"

#include <stdint.h>

namespace plumb::shim {

// A frame as its callee left it: `pc` is the return address (or, with `exact`, the interrupted instruction), `sp` the
// value of the stack pointer once the callee has returned.
struct Frame {
    uint64_t pc;
    uint64_t sp;
    uint64_t bp;
    bool exact;
    [[no_unique_address]] ReturnPlace place = {};

    uint64_t lookup_pc() const { return exact ? pc : pc - 1; }
};

// The frame of a function's caller, whose pc stands at `return_at` (where the architecture leaves a choice).
inline Frame caller_frame(uint64_t pc, uint64_t sp, uint64_t bp, uint64_t return_at) {
    Frame frame{code_address(pc), sp, bp, false};
    frame.place.loaded_from(return_at);
    return frame;
}

inline Frame interrupted_frame(uint64_t pc, uint64_t sp, uint64_t bp, uint64_t link) {
    Frame frame{pc, sp, bp, true};
    frame.place.set_link(code_address(link));
    return frame;
}

// Whether a frame's return address still stands where it was loaded from. That part of the stack must be there.
inline bool still_returns_to(uint64_t pc, uint64_t sp, const ReturnPlace& place) {
    const uint64_t address = place.address(sp);
    return address != 0 && code_address(*reinterpret_cast<const uint64_t*>(address)) == pc;
}

enum class Step {
    caller,       // the frame was replaced by its caller's; its return address stood at place.address(sp)
    interrupted,  // by the frame that a signal interrupted, possibly on another stack
    outermost,    // there is no caller
    broken,       // there is one that cannot be found
};

struct StepFacts {
    bool uses_bp;        // the caller depends on this frame's bp
    bool keeps_bp;       // the caller's bp is this frame's
    uint64_t bp_address; // else where it was loaded from, 0: not at all
    uint64_t sp_address; // where what the caller's sp follows from was loaded from, 0: nowhere, rsp or rbp is enough
};

// Where a frame of which only the frame pointer is known keeps its record of two words (AAPCS64), that is what its rule
// counts from: as long as code keeps the convention, the caller's frame pointer stands where the own one points to.
inline bool cfa_of_record(const UnwindRule& rule, const Frame& frame, uint64_t* cfa) {
    if (rule.bp != BpKind::at_cfa || rule.ra != ReturnKind::above_bp)
        return false;
    *cfa = frame.bp - static_cast<uint64_t>(static_cast<int64_t>(rule.bp_offset));
    return true;
}

// The return address by the link register or where the rule says that it was saved. False: it is not known.
template <class Stack> bool load_return(const UnwindRule& rule, const Frame& frame, Stack* stack, Frame* caller) {
    uint64_t address = caller->sp + static_cast<uint64_t>(static_cast<int64_t>(rule.bp_offset));
    switch (rule.ra) {
    case ReturnKind::below_cfa:
        address = caller->sp - 8;
        break;
    case ReturnKind::in_link:
        // Two frames in a row would go around for ever: a caller's link register holds where the call returns to.
        caller->pc = frame.exact ? frame.place.link() : 0;
        return caller->pc != 0;
    case ReturnKind::above_bp:
        address += 8;
        break;
    case ReturnKind::below_bp:
        address -= 8;
        break;
    case ReturnKind::at_offset:
        break;
    }
    caller->place.loaded_from(address);
    return stack->load(address, &caller->pc);
}

// Stack: `bool load(address, uint64_t*)` and `void switch_stack(sp)`, what follows lies on another stack. With
// `bp_may_be_missing`, a caller's bp that cannot be loaded is 0, and a frame that needs it ends the walk; else it ends here.
// Moves `sp` strictly towards the stack's end except across a signal, and from a frame whose return address is in a register.
template <bool bp_may_be_missing, class Stack>
Step step_by_rule(const UnwindRule& rule, Frame* frame, Stack* stack, StepFacts* facts) {
    constexpr uint64_t kLeastPc = 4096; // nothing is mapped below
    facts->uses_bp = rule.uses_bp();
    facts->keeps_bp = rule.bp == BpKind::kept;
    facts->bp_address = 0;
    facts->sp_address = 0;

    Frame caller{};
    switch (rule.cfa) {
    case CfaKind::from_sp:
        caller.sp = frame->sp + static_cast<uint64_t>(static_cast<int64_t>(rule.cfa_offset));
        if (kReturnsByLink && !frame->place.knows_sp()) {
            facts->uses_bp = true;
            if (!cfa_of_record(rule, *frame, &caller.sp))
                return Step::broken;
        }
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
        if (!stack->load(facts->sp_address, &caller.sp))
            return Step::broken;
        caller.sp += kReturnAddressBytes;
        break;
    case CfaKind::signal_frame: {
        if (!frame->place.knows_sp())
            return Step::broken;
        const uint64_t context = frame->sp;
        if (!stack->load(context + SignalFrame::kPc, &caller.pc) || !stack->load(context + SignalFrame::kSp, &caller.sp) ||
            !stack->load(context + SignalFrame::kBp, &caller.bp) || caller.pc < kLeastPc)
            return Step::broken;
        caller.exact = true;
        if (uint64_t link = 0; kReturnsByLink && stack->load(context + SignalFrame::kLink, &link))
            caller.place.set_link(code_address(link));
        *frame = caller;
        stack->switch_stack(caller.sp);
        return Step::interrupted;
    }
    case CfaKind::outermost:
        return Step::outermost;
    case CfaKind::no_table:
        // Code made at run time and some assembler have no table, but mostly keep the frame-pointer convention.
        caller.sp = frame->bp + 16;
        caller.place.forget_sp();
        facts->keeps_bp = false;
        facts->bp_address = frame->bp;
        break;
    case CfaKind::none:
    case CfaKind::unknown:
        return Step::broken;
    }
    if constexpr (kReturnsByLink) {
        const bool is_record = rule.cfa == CfaKind::no_table;
        const bool moves = caller.sp > frame->sp || (caller.sp == frame->sp && rule.ra == ReturnKind::in_link);
        if (is_record)
            caller.place.loaded_from(frame->bp + 8);
        if (!moves || caller.sp & 7 ||
            !(is_record ? stack->load(frame->bp + 8, &caller.pc) : load_return(rule, *frame, stack, &caller)))
            return Step::broken;
        caller.pc = code_address(caller.pc);
    } else if (caller.sp <= frame->sp || caller.sp & 7 || !stack->load(caller.sp - 8, &caller.pc)) {
        return Step::broken;
    }
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
