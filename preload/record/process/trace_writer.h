// Appends records to this process's trace file. The only way in which anything leaves the shim.
//
// Rules of this file:
//  - Signal-safe and thread-safe: a thread writes only to its own chunk; nothing here blocks, allocates through
//    hooked functions, or touches errno.
//  - Every function takes the guard: recording unguarded does not compile, and recording inside recording
//    (an allocation made while an allocation is recorded) is refused where the guard is taken.
//  - What finds no room is counted in FileHeader::dropped_records and otherwise ignored.
#pragma once

#include "platform/code/alignment_flag.h"
#include "record/process/left_guard.h"
#include "record/process/thread_state.h"

#include <plumb/trace_format.h>
#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

// Proof that the calling thread has entered the shim. False when it was inside already, when the process is not
// recorded (dormant, excluded, switched off, a forked child not yet set up), or when the thread has no state left.
// While it is held the alignment trap does not watch the thread.
class Guard {
  public:
    // Writing the flags twice takes longer than all else that an event costs (50 ns each on virtual machines). So code that
    // runs often and makes aligned accesses only may leave the flag to the program; what it seldom calls takes it
    // (AlignmentFlagTakenHere). Should an access be unaligned all the same, the trap passes over it.
    enum class Flag { taken, stays };

    __attribute__((always_inline)) explicit Guard(Flag flag = Flag::taken) : state_(this_thread) { // inlined: the frame is that of the function that holds it
        const auto frame = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
        if (__builtin_expect(!state_ || !state_->live.load(std::memory_order_relaxed), 0))
            state_ = adopt_this_thread();
        else if (__builtin_expect(state_->is_inside(), 0))
            state_ = state_after_left_guard(*state_, frame);
        if (state_) {
            state_->guard_frame.store(frame, std::memory_order_relaxed);
            std::atomic_signal_fence(std::memory_order_seq_cst);
            if (flag == Flag::taken)
                flag_.take();
        }
    }
    ~Guard() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        if (state_) {
            flag_.give_back();
            state_->guard_frame.store(0, std::memory_order_relaxed);
        }
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    explicit operator bool() const { return state_ != nullptr; }
    ThreadState& thread() const { return *state_; } // only of a guard that is true

  private:
    // A thread seen for the first time (the program's first one, or one that no hook saw being created) is given a
    // state; null: it is not to be recorded.
    static ThreadState* adopt_this_thread();

    ThreadState* state_;
    AlignmentFlagTaken flag_;
};

// Reserves `bytes` (a multiple of 8, at most 65528) in the calling thread's chunk; zeroed; null: no room.
// Nothing may be reserved again before the commit.
void* reserve_record(const Guard&, uint32_t bytes);
void commit_record(const Guard&, uint32_t bytes);

// Copies one fixed-width record into the file and commits it; fills type, size and, if it is 0, the tid.
// Returns its place in the file, to be updated later if the record is of the updated kind; null: no room.
// The place stays valid until the process forks, execs or ends.
void* append_bytes(const Guard&, trace::RecordType type, void* record, uint32_t bytes);

template <class Record> Record* append(const Guard& guard, trace::RecordType type, Record record) {
    return static_cast<Record*>(append_bytes(guard, type, &record, sizeof(Record)));
}

// `count` zeroed records of one type in a chunk of their own, committed at once, to be filled in later: for events whose
// places are used again. Null: no room. No thread's chunk is touched.
void* append_free_records(const Guard&, trace::RecordType type, uint32_t bytes_each, uint32_t count);

// What the file may hold in all.
uint64_t record_limit_bytes();

// Time that recording took from the program.
void add_own_cost(uint64_t ns);

// Writes a text once per call and returns its id; 0: no room. Callers cache what they repeat.
trace::StringId write_string(const Guard&, const char* text, size_t length);

// Records that a collector works, is limited or is missing, and why (once for each source and process).
void write_evidence(const Guard&, const char* source, trace::EvidenceState, const char* why, const char* enable);

uint64_t now_ns(); // CLOCK_MONOTONIC

} // namespace plumb::shim
