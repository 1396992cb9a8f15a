// From one frame of the program to its caller.
#pragma once

#include "platform/os/stack_memory.h"
#include "platform/unwind/rule_step.h"
#include "platform/unwind/unwind_table.h"

namespace plumb::shim {

// The common case of the step below, inline: an ordinary frame addressed through the stack pointer, on a stack of which
// [frame->sp, stack_end) may be read, whose rule is known. False: nothing was done.
inline bool step_fast(Frame* frame, uint64_t stack_end, StepFacts* facts) {
    const uint64_t rule = known_unwind_rule(frame->pc - 1);
    const uint64_t bp_kind = rule >> 3 & 3;
    if (kReturnsByLink && (bp_kind != static_cast<uint64_t>(BpKind::at_cfa) || !frame->place.knows_sp() ||
                           static_cast<ReturnKind>(rule >> 5 & 7) != ReturnKind::above_bp))
        return false;
    if (static_cast<CfaKind>(rule & 7) != CfaKind::from_sp || bp_kind > static_cast<uint64_t>(BpKind::at_cfa))
        return false;
    const uint64_t sp = frame->sp + static_cast<uint64_t>(static_cast<int64_t>(rule) >> 32);
    if (sp <= frame->sp || sp > stack_end || sp & 7)
        return false;
    const uint64_t bp_address = sp + static_cast<uint64_t>(static_cast<int64_t>(rule << 32) >> 40);
    const uint64_t pc_address = kReturnsByLink ? bp_address + 8 : sp - 8;
    if (kReturnsByLink && (pc_address <= frame->sp || pc_address + 8 > stack_end || pc_address & 7))
        return false;
    const uint64_t pc = code_address(*reinterpret_cast<const uint64_t*>(pc_address));
    if (pc < 4096)
        return false;
    if (bp_kind != 0) {
        if (bp_address < frame->sp || bp_address + 8 > stack_end || bp_address & 7)
            return false;
        frame->bp = *reinterpret_cast<const uint64_t*>(bp_address);
    }
    *facts = {false, bp_kind == 0, bp_kind == 0 ? 0 : bp_address, 0};
    frame->pc = pc;
    frame->sp = sp;
    frame->place.loaded_from(pc_address);
    return true;
}

// Signal-safe. Never reads what is not mapped, and moves `sp` strictly towards the stack's end except across a signal.
Step step_to_caller(Frame* frame, StackReader* stack, StepFacts* facts);

} // namespace plumb::shim
