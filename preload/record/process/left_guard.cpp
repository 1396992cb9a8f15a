#include "record/process/left_guard.h"

#include "platform/code/alignment_flag.h"
#include "platform/os/stack_memory.h"
#include "platform/os/system_call.h"
#include "record/collector.h"
#include "record/process/threads.h"

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

constexpr uint32_t kMostRefusals = 1000, kMostStates = 16; // of one thread
// Then whoever began a change of states is taken to have left it for good. Coroutines that a timer switches come back much sooner.
constexpr uint32_t kMostRefusedChanges = 50'000;

// This thread changes its list of states. A handler that interrupts it, and switches to a coroutine that wants the same, would tie the
// list into a ring.
__thread bool changes_states __attribute__((tls_model("initial-exec"))) = false;
__thread uint32_t refused_changes __attribute__((tls_model("initial-exec"))) = 0; // since then

// Whoever changed the list was left in the middle of it. It may still come back, so nothing is taken out of the list any more.
__thread bool list_only_grows __attribute__((tls_model("initial-exec"))) = false;

// A state that the thread left behind, and whose guard has been given back since; taken out of the list. Else an unused one.
ThreadState* another_state(ThreadState& former) {
    uint32_t states = 1;
    for (ThreadState* after = &former; after->left_behind; after = after->left_behind, ++states)
        if (ThreadState* const state = after->left_behind; !list_only_grows && !state->is_inside()) {
            after->left_behind = state->left_behind;
            return state;
        }
    return states < kMostStates ? allocate_unused_thread_state() : nullptr;
}

// What is half written in the former state stays as it is, and is nobody's but the guard's.
ThreadState* replace_state(ThreadState& former, uint64_t frame) {
    ThreadState* const state = another_state(former);
    if (!state)
        return nullptr;
    state->tid = former.tid;
    state->stack = former.stack;
    state->held_back = former.held_back;
    state->end_rounds = former.end_rounds;
    state->start_written = former.start_written;
    state->refusals = 0;
    state->left_behind = &former;
    state->handle.store(former.handle.load(std::memory_order_relaxed), std::memory_order_relaxed);
    state->guard_frame.store(frame, std::memory_order_relaxed); // setting the key may allocate
    state->live.store(1, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // One instruction: while this one was switched away another coroutine may have done the same, with a state of its own.
    ThreadState* expected = &former;
    if (!__atomic_compare_exchange_n(&this_thread, &expected, state, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        state->live.store(0, std::memory_order_relaxed);
        return nullptr;
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    former.start_written = false;
    former.handle.store(0, std::memory_order_relaxed);
    end_with_thread(state);
    state->guard_frame.store(0, std::memory_order_relaxed);
    return state;
}

ThreadState* leave_behind(ThreadState& former, uint64_t frame) {
    if (__atomic_exchange_n(&changes_states, true, __ATOMIC_RELAXED)) { // one instruction: no handler comes in between
        if (++refused_changes < kMostRefusedChanges)
            return nullptr;
        list_only_grows = true;
    }
    refused_changes = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // Another coroutine may have replaced it since the caller looked.
    ThreadState* const state = this_thread == &former ? replace_state(former, frame) : nullptr;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    __atomic_store_n(&changes_states, false, __ATOMIC_RELAXED);
    return state;
}

} // namespace

ThreadState* state_after_left_guard(ThreadState& thread, uint64_t frame) {
    const uint64_t held = thread.guard_frame.load(std::memory_order_relaxed);
    const StackBounds stack = known_stack_bounds();
    if (stack.contains(held) && stack.contains(frame)) {
        if (held >= frame)
            return nullptr;
        end_guard(thread);
        return &thread;
    }
    return ++thread.refusals < kMostRefusals ? nullptr : leave_behind(thread, frame);
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
