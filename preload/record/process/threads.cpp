#include "record/process/threads.h"

#include "platform/os/ids_and_clocks.h"
#include "record/collector.h"
#include "record/process/file_quota.h"
#include "record/process/process.h"
#include "record/process/trace_writer.h"

#include <limits.h>

namespace plumb::shim {
namespace {

pthread_key_t end_key;
bool have_end_key = false;

// Other keys' destructors run hooked functions too (they free memory), before and after this one. So the key is set
// again until the last round but one, and only then is the thread's record closed.
void thread_ends(void* data) {
    auto* state = static_cast<ThreadState*>(data);
    if (state != this_thread)
        return; // it belongs to the parent of this forked child
    if (++state->end_rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1 && pthread_setspecific(end_key, state) == 0)
        return;
    end_collectors_of_thread();
    {
        const Guard guard;
        if (guard)
            write_thread_end(guard);
    }
    this_thread = &ended_thread;
    release_thread_state(state);
}

} // namespace

void prepare_thread_ends() { have_end_key = pthread_key_create(&end_key, thread_ends) == 0; }

void begin_thread(ThreadState* state) {
    state->tid = thread_id();
    state->handle.store(pthread_self(), std::memory_order_relaxed);
    if (state->chunk)
        std::atomic_ref<uint32_t>(state->chunk->tid).store(state->tid, std::memory_order_relaxed);
    const auto frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
    state->guard_frame.store(frame, std::memory_order_relaxed); // setting the key may allocate
    state->live.store(1, std::memory_order_relaxed);
    this_thread = state;
    if (have_end_key)
        pthread_setspecific(end_key, state);
    state->guard_frame.store(0, std::memory_order_relaxed);
    const Guard guard;
    if (!guard || !spend(guard, FileQuota::threads, sizeof(trace::ThreadStart) + sizeof(trace::ThreadEnd)))
        return;
    trace::ThreadStart start = {};
    start.time_ns = now_ns();
    start.start_routine = reinterpret_cast<uint64_t>(state->start_routine);
    start.creator_tid = state->creator_tid;
    start.creation_path = state->creation_path;
    state->start_written = append(guard, trace::RecordType::ThreadStart, start) != nullptr;
}

void end_with_thread(ThreadState* state) {
    if (have_end_key)
        pthread_setspecific(end_key, state);
}

void write_thread_end(const Guard& guard) {
    if (!guard.thread().start_written)
        return;
    trace::ThreadEnd end = {};
    end.time_ns = now_ns();
    end.cpu_time_ns = thread_cpu_ns();
    append(guard, trace::RecordType::ThreadEnd, end);
}

void lend_state_to_ended_thread() {
    ThreadState* state = allocate_thread_state();
    if (!state)
        return;
    state->tid = thread_id();
    state->live.store(1, std::memory_order_relaxed);
    this_thread = state;
}

uint32_t tid_of(pthread_t handle) {
    for (uint32_t i = 0; i < thread_state_count(); ++i) {
        const ThreadState* state = thread_state_at(i);
        if (state && state->handle.load(std::memory_order_relaxed) == handle)
            return state->tid;
    }
    return 0;
}

} // namespace plumb::shim
