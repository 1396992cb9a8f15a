#include "record/watch/threads/thread_switch_counts.h"

#include <algorithm>
#include <string>

namespace plumb::record {

namespace {

constexpr uint64_t kRecordCost_ns = 650;   // of the program and the recorder together; a switch makes two
constexpr uint64_t kCostInProgram_ns = 300; // the program's part of it
constexpr uint64_t kFreeRecords = 20'000; // so that a start-up with many switches does not decide for the run

size_t bin_of(uint64_t length_ns) {
    size_t bin = 0;
    for (uint64_t limit_ns = 10'000; bin + 1 < std::size(trace::ThreadSwitches{}.blocked_counts) && length_ns >= limit_ns;
         limit_ns *= 10)
        ++bin;
    return bin;
}

} // namespace

// The first record behind the mark ends what was true at it.
void ThreadSwitchCounts::keep_mark(Thread& thread, uint64_t time_ns) const {
    if (mark_ns_ == 0 || time_ns <= mark_ns_ || thread.marked_ns == mark_ns_)
        return;
    thread.marked_ns = mark_ns_;
    thread.stood_known = thread.state != State::unknown && thread.since_ns != 0 && thread.since_ns <= mark_ns_;
    thread.stood = {thread.state == State::on, thread.state == State::preempted, thread.since_ns, time_ns, thread.unblocked_ns};
}

std::optional<ThreadSwitchCounts::Stood> ThreadSwitchCounts::at_mark(uint32_t tid) const {
    const auto found = threads_.find(tid);
    if (found == threads_.end() || mark_ns_ == 0)
        return std::nullopt;
    const Thread& thread = found->second;
    if (thread.marked_ns == mark_ns_)
        return thread.stood_known ? std::optional(thread.stood) : std::nullopt;
    if (thread.state == State::unknown || thread.since_ns == 0 || thread.since_ns > mark_ns_)
        return std::nullopt;
    return Stood{thread.state == State::on, thread.state == State::preempted, thread.since_ns, 0, thread.unblocked_ns};
}

void ThreadSwitchCounts::begin(uint32_t tid, uint32_t pid, State state, uint64_t time_ns) {
    if (const auto known = threads_.find(tid); known != threads_.end()) // a number that the kernel gave out again, or an exec
        write(tid, known->second);
    Thread& thread = threads_[tid] = Thread{};
    thread.pid = pid;
    thread.state = state;
    thread.since_ns = thread.counts.first_ns = thread.counts.last_ns = time_ns;
}

// The interval that ends now is of the state that the thread was in.
void ThreadSwitchCounts::to(Thread& thread, State next, uint64_t time_ns) {
    keep_mark(thread, time_ns);
    trace::ThreadSwitches& counts = thread.counts;
    if (thread.since_ns == 0) {
        counts.first_ns = time_ns;
    } else {
        const uint64_t length_ns = time_ns - std::min(time_ns, thread.since_ns);
        const bool was_on = thread.state == State::on, is_on = next == State::on;
        if (thread.state == State::unknown || was_on == is_on) { // a record between them was lost
            ++counts.broken_count;
            counts.broken_ns += length_ns;
        } else if (was_on) {
            counts.on_ns += length_ns;
        } else if (thread.state == State::blocked) {
            ++counts.blocked_count;
            counts.blocked_ns += length_ns;
            ++counts.blocked_counts[bin_of(length_ns)];
            counts.blocked_times_ns[bin_of(length_ns)] += length_ns;
        } else {
            ++counts.preempted_count;
            counts.preempted_ns += length_ns;
            ++counts.preempted_counts[bin_of(length_ns)];
        }
    }
    if (next == State::on && thread.state != State::preempted)
        thread.unblocked_ns = time_ns;
    thread.state = next;
    thread.since_ns = std::max(time_ns, uint64_t{1});
    counts.last_ns = time_ns;
    thread.changed = true;
}

void ThreadSwitchCounts::take(const PerfRecord& record) {
    if (stopped_)
        return;
    switch (record.kind) {
    case PerfKind::fork: // made, and waits for a CPU
        begin(record.tid, record.pid, State::preempted, record.time_ns);
        break;
    case PerfKind::exec: // the counts are the image's; it runs
        begin(record.tid, record.pid, State::on, record.time_ns);
        break;
    case PerfKind::switched: {
        ++records_;
        if (record.tid == 0)
            break;
        Thread& thread = threads_[record.tid];
        thread.pid = record.pid;
        to(thread, !record.leaves ? State::on : record.preempted ? State::preempted : State::blocked, record.time_ns);
        break;
    }
    case PerfKind::exit: // no record of a switch follows
        if (const auto found = threads_.find(record.tid); found != threads_.end()) {
            to(found->second, State::blocked, record.time_ns);
            write(record.tid, found->second);
            threads_.erase(found);
        }
        break;
    default:
        break;
    }
}

void ThreadSwitchCounts::write(uint32_t tid, Thread& thread) {
    if (!thread.changed || thread.pid == 0)
        return;
    thread.changed = false;
    trace::ThreadSwitches& counts = thread.counts;
    if (!thread.record) {
        trace::ThreadSwitches begin{};
        begin.pid = thread.pid;
        begin.first_ns = counts.first_ns;
        thread.record = file_.append(trace::RecordType::ThreadSwitches, tid, begin);
        if (!thread.record)
            return;
    }
    trace::ThreadSwitches& record = *thread.record;
    update(record.flags, counts.flags);
    update(record.last_ns, counts.last_ns);
    update(record.on_ns, counts.on_ns);
    update(record.blocked_count, counts.blocked_count);
    update(record.blocked_ns, counts.blocked_ns);
    update(record.preempted_count, counts.preempted_count);
    update(record.preempted_ns, counts.preempted_ns);
    update(record.broken_count, counts.broken_count);
    update(record.broken_ns, counts.broken_ns);
    for (size_t bin = 0; bin < std::size(counts.blocked_counts); ++bin) {
        update(record.blocked_counts[bin], counts.blocked_counts[bin]);
        update(record.blocked_times_ns[bin], counts.blocked_times_ns[bin]);
        update(record.preempted_counts[bin], counts.preempted_counts[bin]);
    }
}

void ThreadSwitchCounts::look(uint64_t, uint64_t run_ns, uint64_t lost) {
    if (stopped_)
        return;
    for (auto& [tid, thread] : threads_)
        write(tid, thread);
    const auto cost_ns = static_cast<double>((records_ - std::min(records_, kFreeRecords)) * kRecordCost_ns);
    if (lost > lost_)
        why_ = Why::lost;
    else if (cost_ns > share_ * static_cast<double>(run_ns))
        why_ = Why::cost;
    lost_ = lost;
}

uint64_t ThreadSwitchCounts::cost_in_program_ns() const { return records_ * kCostInProgram_ns; }

void ThreadSwitchCounts::stop() {
    stopped_ = true;
    for (auto& [tid, thread] : threads_) {
        thread.counts.flags |= trace::kSwitchesStopped;
        thread.changed |= thread.record != nullptr;
        write(tid, thread);
    }
    threads_.clear();
}

void ThreadSwitchCounts::write_evidence() {
    for (auto& [tid, thread] : threads_)
        write(tid, thread);
    if (why_ == Why::cost)
        file_.evidence("thread-switches", trace::EvidenceState::limited,
                       "exact times of blocked and preempted threads end where recording them exceeded its share of the budget",
                       "a larger --budget");
    else if (why_ == Why::lost)
        file_.evidence("thread-switches", trace::EvidenceState::limited,
                       "exact times of blocked and preempted threads end where the kernel's records of them found no room", "");
    else
        file_.evidence("thread-switches", trace::EvidenceState::ok, "", "");
}

} // namespace plumb::record
