// From one frame to its caller.
#pragma once

#include "platform/stack_memory.h"
#include "platform/unwind_rule.h"

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

// Signal-safe. Never reads what is not mapped, and moves `sp` strictly towards the stack's end except across a signal.
Step step_to_caller(Frame* frame, StackReader* stack, StepFacts* facts);

} // namespace plumb::shim
