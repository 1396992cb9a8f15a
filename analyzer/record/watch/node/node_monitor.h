// What happens on the node beside and around the run: time of each CPU, other processes, interrupts, memory of each
// NUMA node. Reads /proc and /sys only; one recorder a node does it. Only what changes is written.
#pragma once

#include "platform/node_stat.h"
#include "platform/task_stat.h"
#include "record/run/node_trace_writer.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class NodeMonitor {
  public:
    // What makes a process part of the run: `belongs(pid)`, or an ancestor among `recorders()`, the recorders of the
    // run on this node with their ranks. `allowed`: CPUs the run may use.
    NodeMonitor(NodeTraceWriter& file, std::string proc_root, std::string sys_root, uint64_t begin_ns,
                std::vector<int> allowed, std::function<bool(uint32_t)> belongs,
                std::function<std::set<uint32_t>()> recorders);

    // What the memory of the nodes was like before the program ran: what it takes in its first moments counts as well.
    void begin_with(const std::vector<platform::NodeMemoryStat>& memory, uint64_t time_ns);

    // One look; `own_run`: time that threads of the run spent on each CPU since the last look.
    // `recorder_ns`: CPU time of this process so far.
    void read(uint64_t now_ns, const std::map<int, uint64_t>& own_run, uint64_t recorder_ns, bool last);

  private:
    struct Other {
        uint64_t start_ticks = 0, first_cpu_ns = 0;
        uint64_t seen_cpu_ns = 0, seen_ns = 0; // to where OtherActivity records say what it used
        trace::OtherProcess* record = nullptr;
    };
    void read_cpus(uint64_t now_ns, bool last);
    void read_memory(uint64_t now_ns, bool last);
    void write_memory(const platform::NodeMemoryStat& now, uint64_t now_ns);
    void read_interrupts();
    bool others_may_have_run(bool last);
    void read_others(uint64_t now_ns);
    void read_other(uint32_t pid, const platform::TaskStat& stat, uint64_t now_ns);
    void write_activity(uint32_t pid, Other& other, uint64_t cpu_ns, int cpu, uint64_t now_ns);

    NodeTraceWriter& file_;
    std::string proc_root_, sys_root_;
    uint64_t begin_ns_, interval_begin_ns_;
    uint64_t next_slow_ns_ = 0; // next look at other processes and interrupts
    bool has_baseline_ = false;
    std::vector<int> allowed_;
    std::function<bool(uint32_t)> belongs_;
    std::function<std::set<uint32_t>()> recorders_;
    std::map<int, platform::CpuTimes> cpus_; // when the interval began
    std::map<int, uint64_t> own_run_;        // since then
    std::map<int, platform::NodeMemoryStat> memory_; // as last written
    std::map<std::pair<std::string, int>, uint64_t> first_interrupts_;
    std::map<std::pair<std::string, int>, trace::InterruptSource*> interrupts_;
    std::unordered_map<uint32_t, Other> others_;
    size_t other_records_ = 0, activity_records_ = 0;
    uint64_t others_ns_ = 0; // of the latest look at them
    // All CPU time of the node, and that of the run and its recorder, when other processes were last looked at.
    uint64_t busy_ns_ = 0, ours_ns_ = 0, total_own_ns_ = 0, recorder_ns_ = 0;
};

} // namespace plumb::record
