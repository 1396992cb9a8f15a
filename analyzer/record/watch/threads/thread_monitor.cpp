#include "record/watch/threads/thread_monitor.h"

#include "record/run/interval.h"

#include <set>
#include <utility>
#include <vector>

namespace plumb::record {

void ThreadMonitor::add(uint32_t pid, uint32_t tid, uint64_t time_ns) {
    const auto [entry, added] = threads_.try_emplace(tid);
    if (!added)
        return;
    entry->second.pid = pid;
    entry->second.tid = tid;
    entry->second.first_ns = time_ns;
}

void ThreadMonitor::join(uint32_t pid, uint32_t tid, uint64_t now_ns) {
    if (threads_.contains(tid))
        return;
    add(pid, tid, now_ns);
    Thread& thread = threads_[tid];
    if (!read_one(thread, now_ns, true)) { // gone again
        threads_.erase(tid);
        return;
    }
    thread.base = thread.mark = thread.last;
    thread.mark_ns = now_ns;
    thread.changed = false;
    write(thread, now_ns, false);
}

void ThreadMonitor::take(const PerfRecord& record, uint64_t weight_ns) {
    if (record.kind == PerfKind::fork) {
        threads_.erase(record.tid); // a number that the kernel gave out again
        add(record.pid, record.tid, record.time_ns);
        if (const auto creator = threads_.find(record.parent_tid); creator != threads_.end())
            threads_[record.tid].name = creator->second.name; // inherited until it is given one
        return;
    }
    if (record.kind == PerfKind::exec)
        add(record.pid, record.tid, record.time_ns);
    const auto found = threads_.find(record.tid);
    if (found == threads_.end())
        return;
    Thread& thread = found->second;
    if (record.kind == PerfKind::sample) {
        if (record.time_ns > thread.all_read_ns)
            (record.in_kernel ? thread.sampled_system_ns : thread.sampled_user_ns) += weight_ns;
        if (record.time_ns > thread.run_read_ns)
            thread.sampled_run_ns += weight_ns;
        run_by_cpu_[record.cpu] += weight_ns;
        thread.seen_migrations += thread.cpu >= 0 && thread.cpu != record.cpu;
        thread.cpu = record.cpu;
    } else if (record.kind == PerfKind::comm) {
        thread.name = record.text;
        if (thread.record)
            update(thread.record->name, file_.string(thread.name));
    } else if (record.kind == PerfKind::exit) {
        end(record.tid, record.time_ns);
    } else if (record.kind == PerfKind::exec) {
        // A new image begins: its threads start from nothing, but what /proc counts goes on.
        const Counts so_far = thread.last;
        const uint32_t pid = thread.pid, tid = thread.tid;
        if (thread.was_read || thread.sampled_run_ns > 0)
            end(tid, record.time_ns);
        threads_.erase(tid);
        add(pid, tid, record.time_ns);
        threads_[tid].base = threads_[tid].last = threads_[tid].mark = so_far;
        threads_[tid].name = record.text;
    }
}

uint64_t ThreadMonitor::begin_of_interval(const Thread& thread) const { return std::max(thread.first_ns, thread.mark_ns); }

// How long a thread waited for a CPU after its last reading is not known. It is taken to have waited as much of the time in which
// it did not run as before.
void ThreadMonitor::add_last_stretch(Thread& thread, uint64_t end_ns) {
    Counts& last = thread.last;
    const uint64_t known_ns = thread.run_read_ns - std::min(thread.run_read_ns, thread.first_ns);
    const uint64_t off_ns = known_ns - std::min(known_ns, last.run_ns - thread.base.run_ns);
    const uint64_t stretch_ns = end_ns - std::min(end_ns, std::max(thread.run_read_ns, thread.first_ns));
    const uint64_t rest_ns = stretch_ns - std::min(stretch_ns, thread.sampled_run_ns);
    if (off_ns > 0) {
        const uint64_t delay_ns = last.run_delay_ns - thread.base.run_delay_ns;
        last.run_delay_ns += static_cast<uint64_t>(
            static_cast<double>(rest_ns) * std::min(1.0, static_cast<double>(delay_ns) / static_cast<double>(off_ns)));
    }
    last.user_ns += thread.sampled_user_ns;
    last.system_ns += thread.sampled_system_ns;
    last.run_ns += thread.sampled_run_ns;
    thread.changed |= thread.sampled_run_ns > 0;
}

void ThreadMonitor::end(uint32_t tid, uint64_t time_ns) {
    const auto found = threads_.find(tid);
    if (found == threads_.end())
        return;
    Thread& thread = found->second;
    add_last_stretch(thread, time_ns);
    ended_run_ns_ += thread.last.run_ns - thread.base.run_ns;
    if (!thread.exact_migrations)
        thread.last.migrations = thread.base.migrations + thread.seen_migrations;
    write(thread, time_ns, true);
    thread.state = 'X';
    if (thread.changed && time_ns >= begin_of_interval(thread) + kShortestInterval_ns / 10)
        write_interval(thread, time_ns); // thousands of threads that lived for a moment are left to their totals
    threads_.erase(found);
}

bool ThreadMonitor::read_one(Thread& thread, uint64_t now_ns, bool whole) {
    const auto scheduling = platform::read_task_scheduling(proc_root_, thread.pid, thread.tid);
    Counts& last = thread.last;
    if (scheduling) {
        thread.run_read_ns = now_ns;
        thread.sampled_run_ns = 0;
        if (thread.was_read && scheduling->run_ns == last.run_ns && scheduling->run_delay_ns == last.run_delay_ns)
            return true; // it slept all the time
        last.run_ns = scheduling->run_ns;
        last.run_delay_ns = scheduling->run_delay_ns;
    }
    whole |= !thread.was_read || !scheduling;
    if (whole) {
        const auto stat = platform::read_task_stat(proc_root_, thread.pid, thread.tid);
        thread.is_gone = !stat;
        if (!stat)
            return false;
        thread.name = stat->name;
        thread.state = stat->state;
        last.user_ns = stat->user_ns;
        last.system_ns = stat->system_ns;
        last.minor_faults = stat->minor_faults;
        last.major_faults = stat->major_faults;
        if (!scheduling) // a kernel without CONFIG_SCHED_INFO: ticks are all there is
            last.run_ns = stat->user_ns + stat->system_ns;
        if (const auto migrations = platform::read_migrations(proc_root_, thread.pid, thread.tid)) {
            thread.exact_migrations = true;
            last.migrations = *migrations;
        } else {
            thread.seen_migrations += thread.cpu >= 0 && thread.cpu != stat->cpu;
            last.migrations = thread.base.migrations + thread.seen_migrations;
        }
        thread.cpu = stat->cpu;
        cpus_.insert(stat->cpu);
        thread.all_read_ns = now_ns;
        thread.sampled_user_ns = thread.sampled_system_ns = 0;
    }
    thread.was_read = thread.changed = true;
    if (!whole)
        return true;
    write(thread, now_ns, false);
    if (const auto status = platform::read_task_status(proc_root_, thread.pid, thread.tid); status && thread.record) {
        if (status->found_switches) {
            last.voluntary = status->voluntary_switches;
            last.involuntary = status->involuntary_switches;
        }
        update(thread.record->inner_tid, status->inner_id);
        if (!status->allowed_cpus.empty())
            update(thread.record->allowed_cpus, file_.string(status->allowed_cpus));
    }
    write(thread, now_ns, false);
    return true;
}

void ThreadMonitor::write(Thread& thread, uint64_t now_ns, bool ended) {
    if (!thread.record) {
        trace::ThreadSchedule begin{};
        begin.pid = thread.pid;
        begin.name = file_.string(thread.name);
        begin.first_ns = thread.first_ns;
        thread.record = file_.append(trace::RecordType::ThreadSchedule, thread.tid, begin);
        if (!thread.record)
            return;
    }
    trace::ThreadSchedule& record = *thread.record;
    const Counts &last = thread.last, &base = thread.base;
    if (!thread.name.empty())
        update(record.name, file_.string(thread.name));
    update(record.last_ns, now_ns);
    update(record.run_ns, last.run_ns - base.run_ns);
    update(record.run_delay_ns, last.run_delay_ns - base.run_delay_ns);
    update(record.user_ns, last.user_ns - base.user_ns);
    update(record.system_ns, last.system_ns - base.system_ns);
    update(record.voluntary_switches, last.voluntary - base.voluntary);
    update(record.involuntary_switches, last.involuntary - base.involuntary);
    update(record.migrations, last.migrations - base.migrations);
    update(record.minor_faults, last.minor_faults - base.minor_faults);
    update(record.major_faults, last.major_faults - base.major_faults);
    update(record.flags, (thread.exact_migrations ? uint32_t{trace::kScheduleExactMigrations} : 0) |
                             (ended ? uint32_t{trace::kScheduleEnded} : 0));
}

void ThreadMonitor::write_interval(Thread& thread, uint64_t now_ns) {
    trace::ThreadInterval interval{};
    interval.pid = thread.pid;
    interval.cpu = thread.cpu;
    interval.begin_ns = begin_of_interval(thread);
    interval.end_ns = now_ns;
    interval.run_ns = thread.last.run_ns - thread.mark.run_ns;
    interval.run_delay_ns = thread.last.run_delay_ns - thread.mark.run_delay_ns;
    interval.migrations = static_cast<uint32_t>(thread.last.migrations - thread.mark.migrations);
    interval.state = static_cast<uint32_t>(thread.state);
    file_.append(trace::RecordType::ThreadInterval, thread.tid, interval);
    thread.mark = thread.last;
    thread.mark_ns = now_ns;
    thread.changed = false;
}

// Of threads that have ended the record is still to come, with the time of their end.
void ThreadMonitor::end_interval(uint64_t now_ns) {
    for (auto& [tid, thread] : threads_) {
        if (thread.is_gone)
            continue;
        if (thread.changed)
            write_interval(thread, now_ns);
        thread.mark_ns = now_ns;
    }
    interval_begin_ns_ = now_ns;
}

void ThreadMonitor::read(uint64_t now_ns, bool discover) {
    if (discover) {
        std::set<uint32_t> pids;
        for (const auto& [tid, thread] : threads_)
            pids.insert(thread.pid);
        for (const uint32_t pid : pids)
            for (const uint32_t tid : platform::list_threads(proc_root_, pid))
                add(pid, tid, now_ns);
    }
    const bool whole = now_ns - interval_begin_ns_ >= interval_ns(now_ns - begin_ns_, threads_.size());
    std::vector<uint32_t> gone;
    for (auto& [tid, thread] : threads_)
        if (!read_one(thread, now_ns, whole) && discover)
            gone.push_back(tid);
    for (const uint32_t tid : gone)
        end(tid, now_ns);
    if (whole)
        end_interval(now_ns);
}

void ThreadMonitor::read_last(uint32_t pid, uint64_t now_ns) {
    if (const auto found = threads_.find(pid); found != threads_.end()) {
        found->second.was_read = false; // whatever happened since
        if (read_one(found->second, now_ns, true))
            write_interval(found->second, now_ns); // the others' are ended by the records of their ends, or of the next reading
    }
}

uint64_t ThreadMonitor::total_run_ns() const {
    uint64_t total = ended_run_ns_;
    for (const auto& [tid, thread] : threads_)
        total += thread.last.run_ns - thread.base.run_ns;
    return total;
}

std::vector<ThreadMonitor::Task> ThreadMonitor::tasks() const {
    std::vector<Task> tasks;
    tasks.reserve(threads_.size());
    for (const auto& [tid, thread] : threads_)
        tasks.push_back({thread.pid, tid});
    return tasks;
}

std::map<int, uint64_t> ThreadMonitor::take_run_by_cpu() { return std::exchange(run_by_cpu_, {}); }

} // namespace plumb::record
