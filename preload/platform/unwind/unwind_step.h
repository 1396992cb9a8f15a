// From one frame to its caller.
#pragma once

#include "platform/os/stack_memory.h"
#include "platform/unwind/unwind_rule.h"
#include "platform/unwind/unwind_table.h"

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
    uint64_t bp_address; // else where it was loaded from, 0: not at all
    uint64_t sp_address; // where the caller's sp was loaded from, 0: it was computed
};

// The common case of the step below, inline: an ordinary frame addressed through rsp, on a stack of which
// [frame->sp, stack_end) may be read, whose rule is known. False: nothing was done.
inline bool step_fast(Frame* frame, uint64_t stack_end, StepFacts* facts) {
    const uint64_t rule = known_unwind_rule(frame->pc - 1);
    const uint64_t bp_kind = rule >> 3 & 3;
    if (static_cast<CfaKind>(rule & 7) != CfaKind::from_sp || bp_kind > static_cast<uint64_t>(BpKind::at_cfa))
        return false;
    const uint64_t sp = frame->sp + static_cast<uint64_t>(static_cast<int64_t>(rule) >> 32);
    if (sp <= frame->sp || sp > stack_end || sp & 7)
        return false;
    const uint64_t pc = reinterpret_cast<const uint64_t*>(sp)[-1];
    if (pc < 4096)
        return false;
    const uint64_t bp_address = sp + static_cast<uint64_t>(static_cast<int64_t>(rule << 32) >> 40);
    if (bp_kind != 0) {
        if (bp_address < frame->sp || bp_address + 8 > stack_end || bp_address & 7)
            return false;
        frame->bp = *reinterpret_cast<const uint64_t*>(bp_address);
    }
    *facts = {false, bp_kind == 0, bp_kind == 0 ? 0 : bp_address, 0};
    frame->pc = pc;
    frame->sp = sp;
    return true;
}

// Signal-safe. Never reads what is not mapped, and moves `sp` strictly towards the stack's end except across a signal.
Step step_to_caller(Frame* frame, StackReader* stack, StepFacts* facts);

} // namespace plumb::shim
