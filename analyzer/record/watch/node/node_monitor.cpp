#include "record/watch/node/node_monitor.h"

#include "platform/cpu_priority.h"
#include "platform/task_stat.h"
#include "record/run/interval.h"

#include <algorithm>
#include <iterator>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kWorthMentioning_ns = kSecond / 100; // of another process: one clock tick
constexpr size_t kMostOthers = 512, kMostInterrupts = 4096, kMostActivities = 8192; // records of each kind; what comes later is left out
constexpr uint64_t kSlowCostFactor = 200; // a slow look may take 1/200 of the time

uint64_t busy_ns(const std::map<int, platform::CpuTimes>& cpus) {
    uint64_t busy = 0;
    for (const auto& [cpu, times] : cpus)
        busy += times.user_ns + times.system_ns;
    return busy;
}

} // namespace

NodeMonitor::NodeMonitor(NodeTraceWriter& file, std::string proc_root, std::string sys_root, uint64_t begin_ns,
                         std::vector<int> allowed, std::function<bool(uint32_t)> belongs,
                         std::function<std::set<uint32_t>()> recorders)
    : file_(file), proc_root_(std::move(proc_root)), sys_root_(std::move(sys_root)), begin_ns_(begin_ns),
      interval_begin_ns_(begin_ns), allowed_(std::move(allowed)), belongs_(std::move(belongs)),
      recorders_(std::move(recorders)) {
    cpus_ = platform::read_cpu_times(proc_root_);
}

void NodeMonitor::read(uint64_t now_ns, const std::map<int, uint64_t>& own_run, uint64_t recorder_ns, bool last) {
    for (const auto& [cpu, run_ns] : own_run) {
        own_run_[cpu] += run_ns;
        total_own_ns_ += run_ns;
    }
    recorder_ns_ = recorder_ns;
    if (last || now_ns - interval_begin_ns_ >= interval_ns(now_ns - begin_ns_, cpus_.size()))
        read_cpus(now_ns, last);
    if (!last && now_ns < next_slow_ns_)
        return;
    const uint64_t begin_cpu = own_cpu_ns();
    read_memory(now_ns, last);
    read_interrupts();
    if (others_may_have_run(last))
        read_others(now_ns);
    has_baseline_ = true;
    const uint64_t cost_ns = own_cpu_ns() - begin_cpu;
    next_slow_ns_ = now_ns + std::max({kSecond, cost_ns * kSlowCostFactor, (now_ns - begin_ns_) / 16});
}

void NodeMonitor::read_cpus(uint64_t now_ns, bool last) {
    std::map<int, platform::CpuTimes> now = platform::read_cpu_times(proc_root_);
    if (now_ns - interval_begin_ns_ < kShortestInterval_ns / 4 && last)
        return; // too short for the ticks of /proc/stat
    for (const auto& [cpu, times] : now) {
        const auto before = cpus_.find(cpu);
        if (before == cpus_.end())
            continue; // came online in this interval
        const platform::CpuTimes& begin = before->second;
        const auto since = [](uint64_t end, uint64_t start) { return end > start ? end - start : 0; };
        trace::CpuInterval interval{};
        interval.cpu = static_cast<uint32_t>(cpu);
        interval.flags = std::ranges::binary_search(allowed_, cpu) ? uint32_t{trace::kCpuAllowed} : 0;
        interval.begin_ns = interval_begin_ns_;
        interval.end_ns = now_ns;
        interval.user_ns = since(times.user_ns, begin.user_ns);
        interval.system_ns = since(times.system_ns, begin.system_ns);
        interval.idle_ns = since(times.idle_ns, begin.idle_ns); // may go backwards (iowait)
        interval.interrupt_ns = since(times.interrupt_ns, begin.interrupt_ns);
        interval.steal_ns = since(times.steal_ns, begin.steal_ns);
        interval.run_own_ns = own_run_[cpu];
        if (interval.user_ns + interval.system_ns + interval.interrupt_ns + interval.steal_ns + interval.run_own_ns)
            file_.append(trace::RecordType::CpuInterval, 0, interval);
    }
    cpus_ = std::move(now);
    own_run_.clear();
    interval_begin_ns_ = now_ns;
}

void NodeMonitor::read_memory(uint64_t now_ns, bool last) {
    for (const platform::NodeMemoryStat& now : platform::read_node_memory(proc_root_, sys_root_)) {
        const auto before = memory_.find(now.node);
        const auto differs = [&](uint64_t a, uint64_t b) { return (a > b ? a - b : b - a) > now.total_bytes / 100; };
        if (!last && before != memory_.end() && !differs(now.free_bytes, before->second.free_bytes) &&
            !differs(now.file_bytes, before->second.file_bytes) &&
            !differs(now.anonymous_bytes, before->second.anonymous_bytes))
            continue;
        write_memory(now, now_ns);
    }
}

void NodeMonitor::begin_with(const std::vector<platform::NodeMemoryStat>& memory, uint64_t time_ns) {
    for (const platform::NodeMemoryStat& node : memory)
        write_memory(node, time_ns);
}

void NodeMonitor::write_memory(const platform::NodeMemoryStat& now, uint64_t now_ns) {
    memory_[now.node] = now;
    trace::NodeMemory record{};
    record.node = static_cast<uint32_t>(now.node);
    record.time_ns = now_ns;
    record.total_bytes = now.total_bytes;
    record.free_bytes = now.free_bytes;
    record.file_bytes = now.file_bytes;
    record.anonymous_bytes = now.anonymous_bytes;
    record.local_allocations = now.local_allocations;
    record.missed_allocations = now.missed_allocations;
    record.foreign_allocations = now.foreign_allocations;
    record.reclaimable_bytes = now.reclaimable_bytes;
    file_.append(trace::RecordType::NodeMemory, 0, record);
}

// Where all others together used next to nothing, none of them did: the costly look at each of them is put off. What little
// there was still counts when there is a reason to look. The first look says what was used before the run; with nothing after
// it, it says nothing.
bool NodeMonitor::others_may_have_run(bool last) {
    const uint64_t busy = busy_ns(platform::read_cpu_times(proc_root_)), ours = total_own_ns_ + recorder_ns_;
    const uint64_t since = busy - std::min(busy, busy_ns_), own = ours - std::min(ours, ours_ns_);
    if (has_baseline_ ? since <= own + kWorthMentioning_ns : last)
        return false;
    busy_ns_ = busy;
    ours_ns_ = ours;
    return true;
}

void NodeMonitor::read_interrupts() {
    std::vector<platform::InterruptCounts> sources = platform::read_interrupts(proc_root_);
    std::ranges::move(platform::read_softirqs(proc_root_), std::back_inserter(sources));
    for (const platform::InterruptCounts& source : sources) {
        for (const auto& [cpu, count] : source.counts) {
            const std::pair key{source.name, cpu};
            const auto [first, is_new] = first_interrupts_.try_emplace(key, has_baseline_ ? 0 : count);
            if (count <= first->second)
                continue;
            trace::InterruptSource*& record = interrupts_[key];
            if (!record && interrupts_.size() <= kMostInterrupts) {
                trace::InterruptSource begin{};
                begin.name = file_.string(source.name);
                begin.cpu = static_cast<uint32_t>(cpu);
                record = file_.append(trace::RecordType::InterruptSource, 0, begin);
            }
            if (record)
                update(record->count, count - first->second);
        }
    }
}

void NodeMonitor::read_others(uint64_t now_ns) {
    std::map<uint32_t, platform::TaskStat> all;
    for (const uint32_t pid : platform::list_processes(proc_root_))
        if (auto stat = platform::read_process_stat(proc_root_, pid))
            all.emplace(pid, std::move(*stat));
    const std::set<uint32_t> recorders = recorders_();
    for (const auto& [pid, stat] : all) {
        bool ours = belongs_(pid);
        uint32_t ancestor = pid;
        for (int depth = 0; !ours && ancestor > 1 && depth < 64; ++depth) {
            ours = recorders.contains(ancestor);
            const auto place = all.find(ancestor);
            ancestor = place == all.end() ? 0 : place->second.parent_pid;
        }
        if (!ours)
            read_other(pid, stat, now_ns);
    }
    others_ns_ = now_ns;
}

void NodeMonitor::read_other(uint32_t pid, const platform::TaskStat& stat, uint64_t now_ns) {
    Other& other = others_[pid];
    const uint64_t cpu_ns = stat.user_ns + stat.system_ns;
    if (other.start_ticks != stat.start_ticks) {
        other = {}; // new to us: what it used before the first look does not count, unless it came during the run
        other.start_ticks = stat.start_ticks;
        other.first_cpu_ns = has_baseline_ ? 0 : cpu_ns;
        other.seen_cpu_ns = other.first_cpu_ns;
        other.seen_ns = has_baseline_ ? others_ns_ : now_ns;
    }
    if (cpu_ns < other.first_cpu_ns + kWorthMentioning_ns) {
        if (cpu_ns == other.first_cpu_ns)
            other.seen_ns = now_ns;
        return;
    }
    if (!other.record) {
        if (other_records_ >= kMostOthers)
            return;
        trace::OtherProcess begin{};
        begin.name = file_.string(stat.name);
        begin.first_ns = now_ns;
        if (const auto status = platform::read_task_status(proc_root_, pid, pid)) {
            begin.allowed_cpus = file_.string(status->allowed_cpus);
            begin.user_id = status->user_id;
        }
        // The recorder was started with the run's priority, and keeps it.
        if (platform::leaves_cpus_to(proc_root_, pid, stat, static_cast<uint32_t>(getpid())))
            begin.flags = trace::kLeavesCpus;
        other.record = file_.append(trace::RecordType::OtherProcess, pid, begin);
        if (!other.record)
            return;
        ++other_records_;
    }
    write_activity(pid, other, cpu_ns, stat.cpu, now_ns);
    update(other.record->cpu_ns, cpu_ns - other.first_cpu_ns);
    update(other.record->last_cpu, stat.cpu);
    update(other.record->last_ns, now_ns);
}

// What it used is known by clock ticks: less than some of them is left to the next look.
void NodeMonitor::write_activity(uint32_t pid, Other& other, uint64_t cpu_ns, int cpu, uint64_t now_ns) {
    if (cpu_ns < other.seen_cpu_ns + kWorthMentioning_ns) {
        if (cpu_ns == other.seen_cpu_ns)
            other.seen_ns = now_ns;
        return;
    }
    if (activity_records_ < kMostActivities) {
        trace::OtherActivity activity{};
        activity.cpu = cpu;
        activity.begin_ns = other.seen_ns;
        activity.end_ns = now_ns;
        activity.cpu_ns = cpu_ns - other.seen_cpu_ns;
        activity_records_ += file_.append(trace::RecordType::OtherActivity, pid, activity) != nullptr;
    }
    other.seen_cpu_ns = cpu_ns;
    other.seen_ns = now_ns;
}

} // namespace plumb::record
