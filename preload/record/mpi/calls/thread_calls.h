// What one thread is doing in MPI.
#pragma once

#include "record/mpi/calls/current_call.h"
#include "record/mpi/calls/site.h"
#include "record/mpi/communicators/comms.h"

namespace plumb::shim::mpi {

class Rank;

// Probes, and polls that find nothing, one behind the other: the thread waits for what comes of them, in whatever call it
// meets that. A program that computes between its polls does not wait: at least half of the time must have been in them, or
// no more than kBetweenTicks on average between them, which includes what recording takes.
class Waiting {
  public:
    bool has_begun() const { return since_ticks_ != 0; }
    void begins(uint64_t begin_ticks) {
        if (since_ticks_ == 0)
            since_ticks_ = begin_ticks;
    }
    void goes_on(uint64_t mpi_ticks, uint32_t site) {
        mpi_ticks_ += mpi_ticks;
        ++calls_;
        site_ = site;
    }
    void is_over() { since_ticks_ = mpi_ticks_ = calls_ = 0; }

    // When it began; 0: it does not wait.
    uint64_t since(uint64_t now_ticks) const {
        const uint64_t elapsed = now_ticks - since_ticks_;
        return since_ticks_ != 0 && (2 * mpi_ticks_ >= elapsed || elapsed <= mpi_ticks_ + calls_ * kBetweenTicks) ? since_ticks_ : 0;
    }
    uint32_t site() const { return site_; } // trace::MpiSite::id of the last probe or poll
    // Of the time since(), what lay between them: looping around polls is waiting, too.
    uint64_t between(uint64_t now_ticks) const {
        const uint64_t begin = since(now_ticks), elapsed = now_ticks - begin;
        return begin != 0 && now_ticks > begin && elapsed > mpi_ticks_ ? elapsed - mpi_ticks_ : 0;
    }

  private:
    static constexpr uint64_t kBetweenTicks = 4096; // one or two microseconds
    uint64_t since_ticks_, mpi_ticks_, calls_;
    uint32_t site_;
};

// Lies in pages of its own; zeroed memory plus begin() is valid. Belongs to one thread at a time.
class ThreadCalls {
  public:
    void begin(const Guard&, uint64_t now_ticks);
    uint32_t tid() const { return tid_; }

    // Calls inside calls are known by their stack: the frame of an inner call's caller lies below the one of the outer
    // call's. An outer call that was left by longjmp or an exception is not among the inner one's callers. On other stacks
    // than the thread's own they are not looked for: there it is found out by a call from further out.
    bool enter(const Frame& caller, const Function& function) {
        if (__builtin_expect(caller.sp < outer_.sp, 0) && has_outer_caller(caller))
            return false;
        outer_.pc = caller.pc;
        outer_.sp = caller.sp;
        outer_.place = caller.place;
        function_ = &function;
        return true;
    }
    void leave() { outer_.sp = 0; }

    // Whether the thread is inside a call of this kind.
    bool is_inside(trace::MpiKind kind) const { return outer_.sp && function_->kind & kind; }

    // Polls are timed now and then, at irregular intervals: no program's rhythm hides some of its polls.
    static constexpr uint32_t kPollsPerTimed = 16; // on average
    bool times_this_poll() {
        if (__builtin_expect(polls_untimed_-- != 0, 1))
            return false;
        random_ = random_ * 6364136223846793005u + 1442695040888963407u;
        polls_untimed_ = static_cast<uint32_t>(random_ >> 32) % (2 * kPollsPerTimed - 1);
        return true;
    }

    // The communicator of a handle; null: it is not known. Asks the library about one that it has not seen yet.
    Comm* comm(const Guard& guard, Rank& rank, Handle handle) {
        if (__builtin_expect(handle == comm_handle_ && comm_generation_ == comms_generation(rank), 1))
            return comm_;
        return look_up_comm(guard, rank, handle);
    }

    // Its id, 0 for no handle, as far as that is known without asking anybody; UINT32_MAX: it is not.
    uint32_t known_comm_id(const Rank& rank, Handle handle) const {
        if (handle == 0)
            return 0;
        return handle == comm_handle_ && comm_generation_ == comms_generation(rank) && comm_ ? comm_->id : UINT32_MAX;
    }

    // A communicator across a call that ends it; null: it was ended by somebody else.
    void remember_last(const Comm* comm) {
        last_comm_ = comm;
        last_generation_ = comm ? comm->generation : 0;
    }
    Comm* last_remembered(Rank&) const;

    // Shows in the trace that the thread is inside of the call that it enters; to get more of it.
    trace::MpiInside* show(const Sites& all, const Function& function, const Frame& caller) {
        const trace::StringId name = all.known_name_of(function);
        if (__builtin_expect(name == 0 || !sites.knows(caller.pc), 0))
            return show_new(function, caller);
        return inside_.enter(function, name, caller.pc);
    }

    // Completed in this call or a later one: what lies between two collectives.
    struct Gap {
        uint64_t ticks, mpi_ticks;
    };
    Gap gap_before(uint64_t begin_ticks) const {
        return {begin_ticks > collective_end_ticks_ ? begin_ticks - collective_end_ticks_ : 0, gap_mpi_ticks_};
    }
    void collective_ended(uint64_t end_ticks) {
        collective_end_ticks_ = end_ticks;
        gap_mpi_ticks_ = 0;
        ended_one_ = true;
    }
    // At the end of every call that was timed, of which `ticks` is taken as the time; whether a collective was complete
    // in it is remembered from collective_ended().
    void call_ended(uint64_t ticks) {
        mpi_ticks += ticks;
        if (!ended_one_)
            gap_mpi_ticks_ += ticks;
        ended_one_ = false;
    }

    // For handles that a completion call is about to overwrite, until the next call. Null: no memory.
    Handle* room_for(size_t count) { return __builtin_expect(count > kNearHandles, 0) ? far_room_for(count) : near_handles_; }

    Waiting waiting;
    ThreadSites sites;
    uint64_t mpi_ticks;   // not yet added to MpiRank::mpi_ticks
    uint64_t own_ticks;   // time spent recording, not yet added to the totals
    uint32_t calls;       // since the last time it was written

  private:
    static uint32_t comms_generation(const Rank&);
    trace::MpiInside* show_new(const Function&, const Frame& caller);
    Comm* look_up_comm(const Guard&, Rank&, Handle);

    static constexpr size_t kNearHandles = 32;

    bool has_outer_caller(const Frame&) const;
    Handle* far_room_for(size_t count);

    struct {
        uint64_t pc, sp;
        [[no_unique_address]] ReturnPlace place;
    } outer_; // the frame that called into MPI, as in Frame; sp 0: nobody did
    StackBounds stack_; // the thread's own
    const Function* function_;     // of the outer call
    CurrentCall inside_;
    uint64_t random_;
    uint32_t polls_untimed_;
    uint32_t tid_;
    Handle comm_handle_;
    uint32_t comm_generation_;
    Comm* comm_;
    const Comm* last_comm_;
    uint32_t last_generation_;
    uint64_t collective_end_ticks_, gap_mpi_ticks_;
    bool ended_one_;
    Handle near_handles_[kNearHandles];
    Handle* far_handles_; // pages for long arrays
    size_t far_capacity_;
};

} // namespace plumb::shim::mpi
