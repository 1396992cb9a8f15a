#include "platform/unwind/unwind_step.h"

#include "platform/unwind/unwind_table.h"

namespace plumb::shim {
namespace {

// After the handler's return rsp points at the ucontext_t that the kernel pushed (x86-64: uc_flags, uc_link,
// uc_stack, then the general registers r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip).
constexpr uint64_t kContextRegisters = 40;
constexpr uint64_t kContextBp = kContextRegisters + 8 * 10;
constexpr uint64_t kContextSp = kContextRegisters + 8 * 15;
constexpr uint64_t kContextPc = kContextRegisters + 8 * 16;

Step step_across_signal(Frame* frame, StackReader* stack) {
    Frame interrupted{};
    if (!stack->load(frame->sp + kContextPc, &interrupted.pc) || !stack->load(frame->sp + kContextSp, &interrupted.sp) ||
        !stack->load(frame->sp + kContextBp, &interrupted.bp))
        return Step::broken;
    if (interrupted.pc < 4096)
        return Step::broken;
    interrupted.exact = true;
    *frame = interrupted;
    stack->switch_stack(frame->sp);
    return Step::interrupted;
}

} // namespace

Step step_to_caller(Frame* frame, StackReader* stack, StepFacts* facts) {
    const UnwindRule rule = find_unwind_rule(frame->lookup_pc());
    facts->uses_bp = rule.uses_bp();
    facts->keeps_bp = rule.bp == BpKind::kept;
    facts->bp_address = 0;
    facts->sp_address = 0;

    Frame caller{};
    switch (rule.cfa) {
    case CfaKind::from_sp:
        caller.sp = frame->sp + static_cast<int64_t>(rule.cfa_offset);
        break;
    case CfaKind::from_bp:
        caller.sp = frame->bp + static_cast<int64_t>(rule.cfa_offset);
        break;
    case CfaKind::loaded_bp:
        facts->sp_address = frame->bp + static_cast<int64_t>(rule.cfa_offset);
        if (!stack->load(facts->sp_address, &caller.sp))
            return Step::broken;
        break;
    case CfaKind::signal_frame:
        return step_across_signal(frame, stack);
    case CfaKind::outermost:
        return Step::outermost;
    case CfaKind::no_table:
        // Code made at run time and some assembler have no table, but mostly keep the frame-pointer convention.
        caller.sp = frame->bp + 16;
        facts->keeps_bp = false;
        facts->bp_address = caller.sp - 16;
        break;
    case CfaKind::none:
    case CfaKind::unknown:
        return Step::broken;
    }
    if (caller.sp <= frame->sp || caller.sp & 7 || !stack->load(caller.sp - 8, &caller.pc))
        return Step::broken;
    if (caller.pc == 0)
        return Step::outermost;
    if (caller.pc < 4096)
        return Step::broken;

    if (rule.bp == BpKind::at_cfa)
        facts->bp_address = caller.sp + static_cast<int64_t>(rule.bp_offset);
    else if (rule.bp == BpKind::at_bp)
        facts->bp_address = frame->bp + static_cast<int64_t>(rule.bp_offset);
    if (facts->bp_address) {
        if (!stack->load(facts->bp_address, &caller.bp))
            return Step::broken;
    } else {
        caller.bp = rule.bp == BpKind::lost ? 0 : frame->bp;
        facts->keeps_bp = true;
    }
    *frame = caller;
    return Step::caller;
}

} // namespace plumb::shim
