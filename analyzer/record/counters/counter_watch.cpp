#include "record/counters/counter_watch.h"

#include "record/counters/counter_evidence.h"
#include "record/counters/event_check.h"
#include "record/run/interval.h"

#include <algorithm>

namespace plumb::record {

namespace {

constexpr double kShare = 0.003; // of the time, for reading and changing counters
constexpr uint64_t kRecordsEachSlice = 8;

} // namespace

CounterWatch::CounterWatch(NodeTraceWriter& file, platform::MachineCache& cache, int pid)
    : file_(file), cache_(cache), pid_(pid), countable_(cache, pid), begin_ns_(monotonic_ns()) {
    for (CountableGroup& group : countable_.hardware)
        rotated_.push_back({&group, {}});
    for (CountableGroup& group : countable_.software)
        always_.push_back({&group, {}});
    if (!rotated_.empty() || !always_.empty())
        begin_slice(begin_ns_);
}

void CounterWatch::sample(Profile& profile, const std::vector<int>& cpus, uint64_t most_bytes) {
    const auto first_group = static_cast<uint32_t>(rotated_.size() + always_.size() + 1);
    sampler_.emplace(file_, profile, cache_, pid_, cpus, !rotated_.empty(), first_group, most_bytes);
}

void CounterWatch::begin_group(Turn& turn) {
    if (const std::string why = turn.counted->group->start(); !why.empty())
        countable_.refused.emplace_back(turn.counted->events.front()->name, why);
    turn.before = turn.counted->group->read().value_or(std::vector<CounterValue>{});
}

void CounterWatch::begin_slice(uint64_t now_ns) {
    if (is_sampling_)
        sampler_->begin_turn(now_ns);
    else if (!rotated_.empty())
        begin_group(rotated_[current_]);
    for (Turn& turn : always_)
        begin_group(turn);
    slice_ns_ = now_ns;
    next_ns_ = now_ns + interval_ns(now_ns - begin_ns_, kRecordsEachSlice);
}

void CounterWatch::end_group(Turn& turn, bool goes_on, uint64_t now_ns) {
    if (!goes_on)
        turn.counted->group->stop();
    if (const auto values = turn.counted->group->read())
        write(turn, *values, now_ns);
    else
        unread_.insert(turn.counted->events.front()->name);
}

void CounterWatch::end_slice(uint64_t now_ns) {
    if (is_sampling_) {
        sampler_->end_turn(now_ns);
    } else if (!rotated_.empty()) {
        end_group(rotated_[current_], false, now_ns);
        current_ = (current_ + 1) % rotated_.size();
    }
    is_sampling_ = !is_sampling_ && sampler_ && sampler_->has_turns();
    for (Turn& turn : always_)
        end_group(turn, true, now_ns);
}

void CounterWatch::look(uint64_t now_ns) {
    if (now_ns < next_ns_)
        return;
    const uint64_t cpu_ns = thread_cpu_ns();
    end_slice(now_ns);
    begin_slice(now_ns);
    const auto affordable = static_cast<uint64_t>(static_cast<double>(thread_cpu_ns() - cpu_ns) / kShare);
    next_ns_ = std::max(next_ns_, now_ns + affordable);
}

// What cannot be right is left out, and said; nothing is scaled.
void CounterWatch::write(const Turn& turn, const std::vector<CounterValue>& values, uint64_t now_ns) {
    for (size_t i = 0; i < values.size() && i < turn.before.size(); ++i) {
        const CounterValue &before = turn.before[i], &after = values[i];
        CounterValue part{after.count - before.count, {}, {}};
        if (after.enabled_ns && before.enabled_ns && after.running_ns && before.running_ns) {
            part.enabled_ns = *after.enabled_ns - *before.enabled_ns;
            part.running_ns = *after.running_ns - *before.running_ns;
        }
        if (part.count < 0 || running_share(part) < kLeastRunning) {
            shared_.insert(turn.counted->events[i]->name);
            continue;
        }
        trace::CounterSlice record{};
        record.event = file_.string(turn.counted->events[i]->name);
        record.pid = static_cast<uint32_t>(pid_);
        record.begin_ns = slice_ns_;
        record.end_ns = now_ns;
        record.count = static_cast<uint64_t>(part.count);
        record.enabled_ns = part.enabled_ns.value_or(0);
        record.running_ns = part.running_ns.value_or(0);
        record.group = turn.counted->number;
        record.flags = turn.counted->by_papi ? uint32_t{trace::kCountedByPapi} : 0;
        file_.append(trace::RecordType::CounterSlice, 0, record);
    }
}

void CounterWatch::finish(uint64_t now_ns) {
    if (next_ns_ != UINT64_MAX)
        end_slice(now_ns);
    next_ns_ = UINT64_MAX;
    write_counter_evidence(countable_, shared_, unread_, file_);
    if (sampler_)
        sampler_->write_evidence();
}

} // namespace plumb::record
