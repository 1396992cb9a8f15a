#include "record/process/left_guard.h"

#include "platform/code/alignment_flag.h"
#include "platform/os/stack_memory.h"
#include "platform/os/system_call.h"
#include "record/collector.h"

#include <signal.h>

namespace plumb::shim {
namespace {

bool is_on_alternate_stack(uint64_t address) {
    stack_t stack = {};
    if (system_call(SYS_sigaltstack, 0, word(&stack)) != 0 || stack.ss_flags & SS_DISABLE)
        return false;
    const auto low = reinterpret_cast<uint64_t>(stack.ss_sp);
    return address >= low && address < low + stack.ss_size;
}

void end_guard(ThreadState& thread) {
    repair_collectors_of_thread(thread);
    alignment_flag_taken = false;
    // Last: a handler that interrupts this, and jumps, too, begins anew.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    thread.guard_frame.store(0, std::memory_order_relaxed);
}

} // namespace

bool end_left_guard(ThreadState& thread, uint64_t frame) {
    const uint64_t held = thread.guard_frame.load(std::memory_order_relaxed);
    const StackBounds stack = known_stack_bounds();
    if (held >= frame || !stack.contains(held) || !stack.contains(frame))
        return false;
    end_guard(thread);
    return true;
}

void before_jump_to(uint64_t stack_pointer) {
    ThreadState* const thread = this_thread;
    if (!thread || !thread->is_inside())
        return;
    const uint64_t held = thread->guard_frame.load(std::memory_order_relaxed);
    const StackBounds stack = known_stack_bounds();
    if (!stack.contains(stack_pointer))
        return;
    // A handler's guard on its alternate stack ends with a jump to the thread's own.
    if (stack.contains(held) ? held < stack_pointer : is_on_alternate_stack(held))
        end_guard(*thread);
}

} // namespace plumb::shim
