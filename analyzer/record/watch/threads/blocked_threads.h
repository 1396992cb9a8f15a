// What threads wait for while they are off their CPUs, which no time sample shows: at random moments, up to a hundred times
// a second, each thread of the run is looked at from outside. A blocked one has its system call, its stack and, for a lock
// of the C library, the holder recorded (BlockedSite and LockHolder records). Nothing happens inside the target: it is not
// stopped, and no signal interrupts its call. What the run's wall time depends on is followed at each look
// (wall_time.h), once what happened around it is known: one look later.
//
// A look takes 1 us for a thread that has not run since the look before, else about 10. Looks become rarer while each thread
// goes on with what it did, and so that their cost stays below a share of the run's time, however many threads there are.
#pragma once

#include "record/perf/process_table.h"
#include "record/perf/profile.h"
#include "record/run/node_trace_writer.h"
#include "record/watch/threads/awaited_threads.h"
#include "record/watch/threads/blocked_memory.h"
#include "record/watch/threads/lock_holders.h"
#include "record/watch/threads/pipe_ends.h"
#include "record/watch/threads/task_files.h"
#include "record/watch/threads/thread_monitor.h"
#include "record/watch/threads/thread_switch_counts.h"
#include "record/watch/threads/wall_time.h"
#include "support/xorshift.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class BlockedThreads {
  public:
    // `switches`: null, or outlives this. `share`: of the run's time that looks may take. `most_bytes_each`: of the file for
    // one process. `first_pid`: the run began with it at `begin_ns`, and ends with it.
    BlockedThreads(NodeTraceWriter& file, ProcessTable& processes, Profile& profile, std::string proc_root,
                   ThreadSwitchCounts* switches, double share, uint64_t most_bytes_each, uint32_t first_pid, uint64_t begin_ns);

    uint64_t next_look_ns() const { return next_ns_; } // UINT64_MAX: never again

    // Where the thread was when it was sampled; it may hold a lock there.
    void saw(uint32_t tid, trace::NodeId path, uint64_t time_ns);

    // Looks at all of them. Their order is of no importance; who is missing has ended.
    void look(uint64_t now_ns, const std::vector<ThreadMonitor::Task>& tasks);

    void forget(uint32_t pid); // it ended or executed another program

    void write_evidence(); // once, at the end

    uint64_t looks() const { return looks_; }

  private:
    struct SiteKey {
        uint32_t tid, path;
        int system_call;
        uint64_t object;
        trace::StringId descriptor;
        auto operator<=>(const SiteKey&) const = default;
    };
    struct Image { // one program of a process
        uint64_t generation = 0, start_ns = 0, bytes = 0;
        std::map<SiteKey, trace::BlockedSite*> sites;
        std::map<uint32_t, trace::ThreadWall*> walls; // by tid
    };
    struct Thread {
        uint32_t pid = 0;
        TaskFiles files;
        platform::TaskScheduling last;
        uint64_t looked_ns = 0; // 0: never
        uint64_t round = 0;     // the last one that found it living
        trace::BlockedSite* site = nullptr; // where it waits since the last look; null: it ran then
        platform::TaskSyscall call;         // of that wait
        ThreadMoment::State state = ThreadMoment::State::unknown; // at the latest look
        bool has_changed = true; // else it ran, or waited, ever since the look before
        uint32_t waits_for = 0;                                   // see ThreadMoment
        uint64_t elapsed_ns = 0, ran_ns = 0, delayed_ns = 0;      // see LookedAt
        uint64_t all_off_ns = 0;                                  // since it was first looked at
        std::array<uint32_t, ThreadMoment::kMostPeers> peers{};   // see ThreadMoment
        std::string pipe;                                         // that the call is about; empty: none
        bool at_set_time = false;                                 // it sleeps until an absolute time
        bool of_file = false;                                     // the call's descriptor is a file's
        bool of_disk_file = false;                                // and no terminal's, or another device's
        uint64_t first_ns = 0;                                    // first looked at
        LookedAt::Place sampled, before, after; // the latest time sample; those on either side of the latest look
    };
    void look_at(uint32_t tid, Thread& thread, uint64_t now_ns);
    bool read_call(Thread& thread);
    trace::NodeId path_of(uint32_t tid, const Thread& thread, uint64_t now_ns);
    std::string descriptor_of(uint32_t pid, const platform::TaskSyscall& call) const;
    uint32_t holder_of(uint32_t tid, const Thread& thread) const;
    void count_sleep(Thread& thread);
    void judge_wait(uint32_t tid, Thread& thread, uint64_t now_ns);
    void remember_look(uint64_t now_ns);
    void conclude_look();
    trace::ThreadWall* wall_of(uint32_t tid, uint32_t pid, uint64_t now_ns);
    Image& image_of(uint32_t pid);
    trace::BlockedSite* site_at(uint32_t tid, Thread& thread, uint64_t now_ns);

    NodeTraceWriter& file_;
    ProcessTable& processes_;
    Profile& profile_;
    ThreadSwitchCounts* const switches_;
    const std::string proc_root_;
    const double share_;
    const uint64_t most_bytes_each_;
    std::unordered_map<uint32_t, Thread> threads_; // living, by tid
    std::unordered_map<uint32_t, Image> images_;   // by pid
    BlockedMemory memory_;                         // of the latest wait
    PipeEnds pipes_;
    LockHolders holders_;
    AwaitedThreads awaited_;
    WallTime wall_;
    std::vector<LookedAt> latest_look_; // not concluded yet
    uint64_t looked_ns_ = 0;            // when; 0: there is none
    const uint64_t begin_ns_;
    uint64_t previous_look_ns_; // of all threads; before the first one when the run began
    uint64_t spent_ns_ = 0; // by looks
    uint64_t next_ns_, interval_ns_, round_ = 0, looks_ = 0;
    Xorshift random_;
    size_t kept_files_ = 0;
    uint64_t refused_ = 0, seen_ = 0;
    uint64_t with_stack_ = 0, without_stack_ = 0; // waits whose stack could be read, and could not
    int refusal_ = 0;
};

} // namespace plumb::record
