// What the shim knows of one thread. States lie in slabs of the shim's own, are handed out without locks and used
// again by later threads; a forked child finds all of them zeroed (see allocate_pages), so `live` is false in it
// until it has been set up.
#pragma once

#include "platform/os/hidden.h"
#include "platform/os/stack_memory.h"

#include <atomic>
#include <plumb/trace_format.h>
#include <pthread.h>
#include <stdint.h>

namespace plumb::shim {

// Each collector may hang its own data on a thread. They survive the thread: the next thread that gets the state
// inherits them, and the collector decides at thread_start what becomes of them.
enum class ThreadSlot : uint32_t {
    heap_counting, // what the allocation hooks count into without further ado; null: they must look closer
    heap,
    call_path,
    sampling,
    pin,
    mpi,
    align,
    openmp,
    count
};

// Threads do not share lines; what every allocation looks at, `guard_frame` and the first slot, stands in one of them.
struct alignas(64) ThreadState {
    std::atomic<uint32_t> live; // 1 from the thread's first record to its last; 0: nothing may be recorded
    uint32_t tid;
    std::atomic<uint64_t> guard_frame; // of the function that holds the Guard; 0: the thread is not in the shim
    trace::ChunkHeader* chunk;    // the one it writes; kept for the state's next thread
    uint64_t pending_bytes;       // of the record reserved and not yet committed
    uint32_t chunks;              // taken so far: later ones are larger
    StackBounds stack;            // the thread's own; 0, 0: not asked for yet
    void* collector_data[static_cast<uint32_t>(ThreadSlot::count)];
    std::atomic<pthread_t> handle; // pthread_self(), 0: not known

    // Handed over from the creating thread to the new one, see hooks/threads.cpp.
    void* start_routine;
    void* start_argument;
    uint32_t creator_tid;
    trace::NodeId creation_path;
    uint32_t pin_ticket; // the position its creator claimed for it (record/pin/pin.h)
    uint64_t held_back;  // signals that its creator blocks and the kernel does not know of (record/signals/program_signals.h)
    uint32_t end_rounds; // key destructor rounds seen
    bool start_written;  // the thread has a ThreadStart and is to have a ThreadEnd
    uint32_t refusals;     // calls that could not be recorded because a guard is held on another stack
    ThreadState* left_behind; // the state that the thread had before, with such a guard; null: none

    std::atomic<uint32_t> next_free; // index + 1 in the list of free states, 0: the last
    uint32_t index;

    bool is_inside() const { return guard_frame.load(std::memory_order_relaxed) != 0; }

    template <class Data> Data*& data(ThreadSlot slot) {
        return reinterpret_cast<Data*&>(collector_data[static_cast<uint32_t>(slot)]);
    }
};

// initial-exec, because the general model may call __tls_get_addr, which allocates on a thread's first access: in
// the middle of malloc, or in a signal handler. The shim is always preloaded, so there is static room for it.
extern __thread ThreadState* this_thread __attribute__((tls_model("initial-exec"))) PLUMB_HIDDEN;

// Stands in this_thread when the thread's last record is written: never live, so nothing brings it back to life.
extern ThreadState ended_thread;

// A zeroed state (but for what the previous thread left in chunk, chunks and collector_data); null: too many threads. Lock-free,
// signal-safe.
ThreadState* allocate_thread_state();
ThreadState* allocate_unused_thread_state(); // the same, zeroed throughout
void release_thread_state(ThreadState*);

// All states ever handed out, also free ones; for walks over threads. Threads may come and go meanwhile.
uint32_t thread_state_count();
ThreadState* thread_state_at(uint32_t index); // null: not there (yet)

// In a forked child, whose only thread is the calling one: forget everything.
void reset_thread_states();

} // namespace plumb::shim
