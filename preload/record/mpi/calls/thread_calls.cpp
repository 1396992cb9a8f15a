#include "record/mpi/calls/thread_calls.h"

#include "platform/os/memory.h"
#include "record/mpi/rank.h"

namespace plumb::shim::mpi {

void ThreadCalls::begin(const Guard& guard, uint64_t now_ticks) {
    tid_ = 0; // not yet this thread's
    std::atomic_signal_fence(std::memory_order_seq_cst);
    sites.begin(guard.thread().stack);
    inside_.begin(guard);
    outer_ = {};
    stack_ = guard.thread().stack;
    random_ = uint64_t{guard.thread().tid} << 32 ^ now_ticks;
    polls_untimed_ = 0;
    comm_handle_ = 0;
    comm_ = nullptr;
    comm_generation_ = UINT32_MAX;
    collective_end_ticks_ = now_ticks;
    gap_mpi_ticks_ = mpi_ticks = own_ticks = 0;
    calls = 0;
    ended_one_ = false;
    waiting = {};
    std::atomic_signal_fence(std::memory_order_seq_cst);
    tid_ = guard.thread().tid;
}

// Some library's Fortran functions call its C functions: usually that is two frames further out.
bool ThreadCalls::has_outer_caller(const Frame& caller) const {
    constexpr uint32_t kLongest = 64;
    if (!stack_.contains(outer_.sp) || !stack_.contains(caller.sp))
        return true;
    if (!still_returns_to(outer_.pc, outer_.sp, outer_.place))
        return false;
    Frame frame = caller;
    StackReader stack(stack_, caller.sp);
    StepFacts facts;
    for (uint32_t i = 0; i < kLongest && frame.sp < outer_.sp; ++i)
        if (!step_fast(&frame, stack_.high, &facts) && step_to_caller(&frame, &stack, &facts) != Step::caller)
            return true; // not known
    return frame.sp == outer_.sp && frame.pc == outer_.pc;
}

// Whom the call comes from is not among what this thread's sites will say, should it never return.
trace::MpiInside* ThreadCalls::show_new(const Function& function, const Frame& caller) {
    const Guard guard;
    if (!guard)
        return nullptr;
    trace::MpiInside* const record = inside_.enter(function, rank_of_process->sites.name_of(guard, function), caller.pc);
    inside_.called_by(sites.path_at(guard, caller));
    return record;
}

uint32_t ThreadCalls::comms_generation(const Rank& rank) { return rank.comms.generation(); }

Comm* ThreadCalls::last_remembered(Rank& rank) const {
    const Locked locked(rank.lock);
    Comm* const comm = locked && last_comm_ ? rank.comms.at(rank.comms.place_of(last_comm_), last_generation_) : nullptr;
    return comm && comm->handle ? comm : nullptr;
}

Comm* ThreadCalls::look_up_comm(const Guard& guard, Rank& rank, Handle handle) {
    if (handle == 0)
        return nullptr;
    const uint32_t generation = rank.comms.generation();
    Comm* found = nullptr;
    {
        const Locked locked(rank.lock);
        if (!locked)
            return nullptr;
        found = rank.comms.find(handle);
    }
    CommFacts facts;
    if (!found && is_comm(handle) && rank.questions.ask(handle, &facts)) {
        const Locked locked(rank.lock);
        if (!locked || rank.comms.find(handle)) // another thread was faster
            facts.release();
        else
            rank.comms.add(guard, {handle, 0, 0, 0, ticks()}, facts, Comms::Origin::guessed);
        found = locked ? rank.comms.find(handle) : nullptr;
    }
    comm_handle_ = handle;
    comm_ = found;
    comm_generation_ = generation; // of before: if it was added just now, the next call looks once more
    return found;
}

Handle* ThreadCalls::far_room_for(size_t count) {
    if (count > far_capacity_) {
        Handle* const former = far_handles_;
        const size_t former_capacity = far_capacity_, capacity = count + count / 2;
        far_capacity_ = 0;
        std::atomic_signal_fence(std::memory_order_seq_cst);
        far_handles_ = static_cast<Handle*>(allocate_pages(capacity * sizeof(Handle), true));
        std::atomic_signal_fence(std::memory_order_seq_cst);
        far_capacity_ = far_handles_ ? capacity : 0;
        if (former)
            release_pages(former, former_capacity * sizeof(Handle));
    }
    return far_handles_;
}

} // namespace plumb::shim::mpi
