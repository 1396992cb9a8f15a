// The run ends when its first thread ends. At every look at blocked threads the wall time since the look before is followed
// back from there over who waits for whom (wait_chain.h), and added to what it depended on: the wait of a blocked thread
// (BlockedSite, LockHolder), or a thread that ran (ThreadWall).
#pragma once

#include "record/run/node_trace_writer.h"
#include "record/watch/wait_chain.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace plumb::record {

// A thread as the latest look found it.
struct LookedAt {
    ThreadMoment moment;
    trace::BlockedSite* site = nullptr;  // where it waits; null: it ran, or nothing is known
    trace::LockHolder* holder = nullptr; // of the lock that it waits for
};

class WallTime {
  public:
    // The record of a thread that ran; null: there is no room for one.
    using RecordOf = std::function<trace::ThreadWall*(uint32_t tid, uint32_t pid)>;

    // The run began with the process `first_pid` at `begin_ns`.
    WallTime(uint32_t first_pid, uint64_t begin_ns) : first_pid_(first_pid), followed_ns_(begin_ns) {}

    // `threads`: all that are living.
    void follow(uint64_t now_ns, const std::vector<LookedAt>& threads, const RecordOf& record_of);

  private:
    const uint32_t first_pid_;
    uint64_t followed_ns_; // until when it is accounted for
    std::vector<ThreadMoment> moments_; // kept for its room
};

} // namespace plumb::record
