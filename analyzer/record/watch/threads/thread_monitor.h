// What each thread of the run does, read from /proc: time on CPUs, waiting for a CPU, switches, migrations, faults,
// allowed CPUs. Writes ThreadSchedule (updated) and ThreadInterval.
//
// A thread's files vanish with it, so its last stretch is not in them. What was sampled since its last reading is
// added instead, which is right on average, and as much waiting for a CPU as before.
#pragma once

#include "platform/task_stat.h"
#include "record/perf/perf_record.h"
#include "record/run/node_trace_writer.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class ThreadMonitor {
  public:
    ThreadMonitor(NodeTraceWriter& file, std::string proc_root, uint64_t begin_ns)
        : file_(file), proc_root_(std::move(proc_root)), begin_ns_(begin_ns), interval_begin_ns_(begin_ns) {}

    void add(uint32_t pid, uint32_t tid, uint64_t time_ns); // known already: no effect
    // One that may have run before: what it did until now does not count.
    void join(uint32_t pid, uint32_t tid, uint64_t now_ns);
    void take(const PerfRecord& record, uint64_t weight_ns); // fork, exec, comm, exit; sample: its weight

    // Reads all living threads; ends the interval when it is long enough. Without fork records from perf
    // (`discover`) new threads of the known processes are looked for as well.
    void read(uint64_t now_ns, bool discover);

    // The last reading of the first process, which has ended but was not waited for yet.
    void read_last(uint32_t pid, uint64_t now_ns);

    // Time that threads of the run spent on each CPU since the last call.
    std::map<int, uint64_t> take_run_by_cpu();
    const std::set<int>& cpus() const { return cpus_; } // on which a look at a thread found that it had run last

    uint64_t total_run_ns() const; // of all threads, ended ones included, as last read

    struct Task {
        uint32_t pid, tid;
    };
    std::vector<Task> tasks() const; // that are living
    size_t living() const { return threads_.size(); }

  private:
    struct Counts {
        uint64_t run_ns = 0, run_delay_ns = 0, user_ns = 0, system_ns = 0;
        uint64_t voluntary = 0, involuntary = 0, migrations = 0, minor_faults = 0, major_faults = 0;
    };
    struct Thread {
        uint32_t pid = 0, tid = 0;
        std::string name;
        uint64_t first_ns = 0;
        trace::ThreadSchedule* record = nullptr;
        Counts base;  // when this image of the process began: exec does not reset what /proc counts
        Counts last;  // last reading
        Counts mark;  // when the interval began
        uint64_t mark_ns = 0;
        int cpu = -1;
        char state = '?';
        bool was_read = false, exact_migrations = false, changed = false;
        bool is_gone = false; // at the last reading its files were
        uint64_t seen_migrations = 0;                   // between samples
        uint64_t run_read_ns = 0, all_read_ns = 0;           // when run_ns, and everything, was last read
        uint64_t sampled_run_ns = 0;                         // since run_read_ns
        uint64_t sampled_user_ns = 0, sampled_system_ns = 0; // since all_read_ns
    };
    bool read_one(Thread& thread, uint64_t now_ns, bool whole);
    void write(Thread& thread, uint64_t now_ns, bool ended);
    void end(uint32_t tid, uint64_t time_ns);
    void add_last_stretch(Thread& thread, uint64_t end_ns);
    uint64_t begin_of_interval(const Thread& thread) const;
    void write_interval(Thread& thread, uint64_t now_ns);
    void end_interval(uint64_t now_ns);

    NodeTraceWriter& file_;
    std::string proc_root_;
    uint64_t begin_ns_, interval_begin_ns_;
    std::unordered_map<uint32_t, Thread> threads_; // living, by tid
    std::map<int, uint64_t> run_by_cpu_;
    std::set<int> cpus_;
    uint64_t ended_run_ns_ = 0;
};

} // namespace plumb::record
