// What collects evidence while the program runs, and the way of the kernel's records to each of them. Which of them there
// are depends on the options and on what works here.
#pragma once

#include "record/access/access_watch.h"
#include "record/calibrate/calibration.h"
#include "record/counters/counter_watch.h"
#include "record/perf/event_counts.h"
#include "record/perf/process_table.h"
#include "record/perf/profile.h"
#include "record/perf/sampler.h"
#include "record/run/node_trace_writer.h"
#include "record/run/options.h"
#include "record/run/overhead_governor.h"
#include "record/watch/goroutines/goroutine_watch.h"
#include "record/watch/memory/memory_watch.h"
#include "record/watch/node/page_reads.h"
#include "record/watch/process_watch.h"
#include "record/watch/threads/active_threads.h"
#include "record/watch/threads/blocked_threads.h"
#include "record/watch/threads/preemptions.h"
#include "record/watch/threads/thread_monitor.h"
#include "record/watch/threads/thread_switch_counts.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <vector>

namespace plumb::record {

class Collectors {
  public:
    Collectors(const std::string& trace_path, const Options& options);

    // For `pid`, which has not yet exec'd its program: what has to be there when it does. `recorders`: of this job, on this
    // node.
    void prepare(int pid, size_t recorders, Calibration& calibration);

    // What the program need not wait for.
    void begin(int pid, uint64_t begin_ns);

    // Time samples were wanted: whether there are any.
    bool works_as_wanted() const { return has_samples() || !options_.collects("sample"); }
    bool has_samples() const { return sampler && sampler->works(); }
    uint64_t samples() const; // made so far: those of bursts, and those left out, cost the program as much as the others
    void count_lost(uint64_t now_ns, bool final); // once a tick: what the kernel had no room for
    uint64_t lost_samples() const;
    uint64_t begun() const { return begun_; } // threads and processes, as far as the kernel reports their beginnings

    // Hands out what the kernel recorded. `final`: all of it, else what is certain to be in order.
    void drain(SampleChoice choice, bool final);
    uint64_t drain_cpu_ns() const { return drain_cpu_ns_; } // CPU time of the recorder that this took so far

    // A program that we may execute but not read, or that runs with more privileges than we have, takes the events off
    // itself: the kernel then reports not even its exec. `started_ns`: of that exec.
    bool is_withheld(int pid, uint64_t started_ns);

    void look_at_switches(uint64_t now_ns); // once a tick: stops them where they cost too much

    void add_to_poll(std::vector<pollfd>& polled) const;

    // Once, when the program has ended. `pid`: its.
    void write_evidence(int pid);

    NodeTraceWriter file;
    ProcessTable processes;
    Profile profile;
    std::optional<Sampler> sampler;       // where samples are wanted
    std::optional<AccessWatch> accesses;  // where there are samples
    std::unique_ptr<MemoryWatch> memory;  // where it has more than one place
    std::optional<PageReads> page_reads;  // where there are samples and waits are recorded
    std::optional<EventCounts> events;
    std::optional<CounterWatch> counters; // where they are wanted
    std::optional<ProcessWatch> process_watch; // from begin() on, like the next ones
    std::optional<ThreadMonitor> threads;
    std::optional<BlockedThreads> blocked;
    std::optional<GoroutineWatch> goroutines;
    std::optional<ThreadSwitchCounts> switches; // where the kernel's records of switches are available
    std::optional<ActiveThreads> active;        // with them
    std::optional<Preemptions> preemptions;     // with them

  private:
    void count_events(int pid);
    void watch_page_reads(int pid, size_t recorders);
    void sample_counters(size_t recorders);
    bool has_programs_name(int pid, uint64_t started_ns) const;
    void write_what_is_left(int pid);
    void write_what_was_not_sampled();

    const Options& options_;
    bool was_sampled_ = false, withheld_ = false;
    uint64_t named_ns_ = 0; // when the process was first seen under the program's name; 0: not yet
    uint64_t drained_ns_ = 0, drain_cpu_ns_ = 0, left_out_ = 0, begun_ = 0;
    uint64_t lost_ = 0, lost_in_kernel_ = 0, lost_switches_ = 0, counted_lost_ns_ = 0;
};

} // namespace plumb::record
