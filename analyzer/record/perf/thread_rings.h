// Perf events of single threads, each with a small ring of its own: where a ring for each CPU would take too much memory or
// too many descriptors. The kernel lets nobody map a ring that follows new threads over all CPUs, so that each thread needs
// an event of its own as soon as it is known: by the fork record in its creator's ring, else by a look into /proc. What a
// thread does before that is not sampled. The program notices nothing.
#pragma once

#include "record/perf/perf_ring.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class ThreadRings {
  public:
    // `attributes`: of every event. `pages` of data at most; where less is granted, with less of the stack in a sample.
    ThreadRings(const perf_event_attr& attributes, size_t pages, const std::string& proc_root = "/proc");

    int begin(int pid); // sampled from its exec on; returns 0 or an errno

    void follow(uint32_t tid); // it has begun: a thread, or a process that was forked
    void forget(uint32_t tid); // it has ended, and its records were taken
    // Follows all threads of these processes that no record spoke of, and forgets threads that are gone.
    void look(const std::vector<uint32_t>& pids);

    std::vector<PerfRing>& rings() { return rings_; }
    const std::vector<PerfRing>& rings() const { return rings_; }
    uint64_t version() const { return version_; } // of the list of rings
    uint64_t refused() const { return refused_.size(); } // threads for which there was no room or descriptor
    uint64_t lost() const;

  private:
    int open(uint32_t tid, bool from_exec);

    perf_event_attr attributes_;
    size_t pages_;
    std::string proc_root_;
    std::vector<PerfRing> rings_;
    std::vector<uint32_t> tids_;                // of the rings
    std::unordered_map<uint32_t, size_t> places_; // by tid
    std::unordered_map<uint32_t, int> refused_; // by tid: errno
    uint64_t version_ = 0, lost_ = 0;
};

} // namespace plumb::record
