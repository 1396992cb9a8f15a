// The run ends when its first thread ends. At every look at blocked threads the wall time since the look before is followed
// back from there over who waits for whom (wait_chain.h), and added to what it depended on: the wait of a blocked thread
// (BlockedSite, LockHolder, WaitedFor), or a thread that ran (ThreadWall).
//
// A thread that joins others one after the other names only the first of them; which one kept it waiting is known when they
// have ended. So looks are remembered, and settle() follows them again from their end: from a join back to the start of the
// thread that ended it, from there to the thread that began it, and so on. Threads that only go on until they wait for a slower one
// are passed over (held_back.h). What was added at the looks is taken off again.
// A recorder that waits for a CPU itself looks when somebody has just left one, and so meets more waiting threads than there
// are. How long each thread was blocked is exact: settle() takes a waiting thread to have run for what is too much.
#pragma once

#include "record/run/node_trace_writer.h"
#include "record/watch/threads/wait_chain.h"

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

namespace plumb::record {

// A thread as the latest look found it.
struct LookedAt {
    ThreadMoment moment;
    trace::BlockedSite* site = nullptr;  // where it waits; null: it ran, or nothing is known
    trace::LockHolder* holder = nullptr; // of the lock that it waits for
    trace::ThreadWall* wall = nullptr;   // of one that ran; filled in here where the run depended on it
    // Since the look before, by the scheduler's counts: the kernel adds a wait for a CPU to delayed_ns when it ends, however much
    // of it was before.
    uint64_t elapsed_ns = 0, ran_ns = 0, delayed_ns = 0;
    double no_cpu_share = 0; // of the time that it was not blocked; filled in here
    // Of one that waits: its wait took all of this time, and may have been longer.
    uint64_t waits_from_ns = 0, waits_until_ns = 0;
    uint64_t waits_at = 0; // word of a futex that it waits at, else 0
    bool lacks_cpu = false; // it could have run, but had no CPU
    bool is_woken = false;  // of that, since it was blocked: it has not seen yet what it was woken for
    uint64_t unblocked_ns = 0; // when it last got a CPU after it had been blocked; 0: not known
    uint64_t blocked_ns = 0;   // of one that waits: since when; 0: not known
    bool overdue = false;      // see overdue_sleeps.h
    struct Place {
        trace::NodeId path = 0; // 0: not known
        uint64_t time_ns = 0;
    };
    Place before, after; // of one that ran: its time samples on either side of the look

    // Where it was while others waited from `from_ns` to `until_ns`; 0: not known.
    trace::NodeId path_within(uint64_t from_ns, uint64_t until_ns) const {
        if (site)
            return site->path;
        for (const Place& place : {before, after})
            if (place.path != 0 && place.time_ns >= from_ns && place.time_ns <= until_ns)
                return place.path;
        return 0;
    }
};

// Two threads of one look, the first of which waits for the second.
struct LookedAtPair {
    size_t from, to; // indexes
    trace::WaitedFor* record;
};

class WallTime {
  public:
    // The record of a thread that ran; null: there is no room for one.
    using RecordOf = std::function<trace::ThreadWall*(uint32_t tid, uint32_t pid, uint64_t time_ns)>;

    // The run began with the process `first_pid` at `begin_ns`.
    WallTime(uint32_t first_pid, uint64_t begin_ns, RecordOf record_of)
        : first_pid_(first_pid), followed_ns_(begin_ns), record_of_(std::move(record_of)) {}

    // `threads`: all that are living.
    void follow(uint64_t now_ns, std::vector<LookedAt> threads, std::vector<LookedAtPair> pairs);

    // With hindsight. Once at the end of the run, and by itself after so many looks that their memory would grow further.
    void settle();

  private:
    struct Look {
        uint64_t now_ns;
        double elapsed_ns;
        std::vector<LookedAt> threads;
        std::vector<LookedAtPair> pairs;
    };
    void judge_running();
    void add(Look& look, uint32_t from_tid, int sign, const WaitChain::Holders* holders = nullptr);
    void count(Look& look, const WaitChain::Share& end, const WaitChain& chain, int sign);

    const uint32_t first_pid_;
    uint64_t followed_ns_; // until when it is accounted for
    RecordOf record_of_;
    std::vector<Look> looks_;
    size_t remembered_ = 0; // threads of all looks
};

// From which thread the chain of each look begins, with hindsight: from the end of the last one backwards. `looks`: the threads
// of each, in the order of time.
std::vector<uint32_t> roots_in_hindsight(const std::vector<std::vector<ThreadMoment>>& looks, uint32_t first_pid);

} // namespace plumb::record
