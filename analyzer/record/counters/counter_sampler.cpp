#include "record/counters/counter_sampler.h"

#include "platform/cpuset.h"
#include "record/counters/cpu_kinds.h"
#include "record/counters/event_check.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <iterator>
#include <sstream>

namespace plumb::record {

namespace {

// An event on each CPU, of each thread: more of them make the creation of a thread slow.
constexpr size_t kMostEvents = 256;
constexpr size_t kPages = 4; // of each ring: two dozen samples
constexpr size_t kMostTaken = 1 << 16; // places of a turn

} // namespace

CounterSampler::CounterSampler(NodeTraceWriter& file, Profile& profile, platform::MachineCache& cache, int pid,
                               const std::vector<int>& cpus, bool has_counters, uint32_t group, uint64_t most_bytes)
    : file_(file), profile_(profile), pid_(static_cast<uint32_t>(pid)), group_(group), most_bytes_(most_bytes),
      chosen_(file), faults_(pid, cpus, FaultSampler::Faults::few) {
    if (!faults_.works())
        refused_["page faults"] = faults_.why();
    if (!has_counters)
        return;
    size_t events_left = kMostEvents / std::max<size_t>(cpus.size(), 1);
    for (std::vector<SampledEvent>& events : tested_sets(cache, cpus)) {
        for (size_t i = events_left; i < events.size(); ++i)
            refused_.emplace(events[i].event->name, fmt::format("it would take an event on each of {} CPUs for each thread", cpus.size()));
        events.resize(std::min(events.size(), events_left));
        events_left -= events.size();
        open(events, pid, cpus);
    }
}

// Kept by what they depend on, one line an event: its name, and what is wrong with it.
std::vector<std::vector<SampledEvent>> CounterSampler::tested_sets(platform::MachineCache& cache, const std::vector<int>& cpus) {
    std::vector<int> allowed;
    std::ranges::set_intersection(cpus, platform::affinity_mask(), std::back_inserter(allowed));
    if (allowed.empty())
        return {};
    const std::pair<int, int> unlike = unlike_cpus(cpu_kinds(""), allowed);
    const std::string name = fmt::format("counter samples, {}, on CPUs {} and {}", coding_identity(), unlike.first, unlike.second);
    std::map<std::string, std::string> faults;
    if (const auto kept = cache.find(name)) {
        std::istringstream lines(*kept);
        for (std::string line; std::getline(lines, line);)
            if (const size_t tab = line.find('\t'); tab != std::string::npos)
                faults[line.substr(0, tab)] = line.substr(tab + 1);
    }
    std::vector<std::vector<SampledEvent>> sets;
    std::string to_keep;
    bool is_lasting = true;
    for (const std::vector<const CounterEvent*>& plan : sampled_sets()) {
        std::vector<SampledEvent>& set = sets.emplace_back();
        for (const CounterEvent* event : plan) {
            const auto coding = coding_of(*event);
            if (!coding) {
                refused_[event->name] = "the kernel has no such event, and the table of PAPI's native events none";
                continue;
            }
            const SampledEvent sampled{.event = event, .coding = *coding, .period = period_of(*event)};
            const auto known = faults.find(event->name);
            const SamplingFault fault = known == faults.end() ? sampling_fault(sampled, unlike) : SamplingFault{known->second};
            is_lasting &= fault.is_lasting;
            to_keep += fmt::format("{}\t{}\n", event->name, fault.why);
            if (fault.why.empty())
                set.push_back(sampled);
            else
                refused_[event->name] = fault.why;
        }
    }
    if (faults.empty() && is_lasting)
        cache.keep(name, to_keep);
    return sets;
}

void CounterSampler::open(const std::vector<SampledEvent>& events, int pid, const std::vector<int>& cpus) {
    Set set;
    for (const SampledEvent& event : events) {
        Ringed ringed;
        ringed.sampled = event;
        if (const int error = open_sampled(ringed.sampled, pid, cpus, kPages, ringed.rings))
            refused_[event.event->name] = std::string("perf_event_open, to sample: ") + std::strerror(error);
        else
            set.push_back(std::move(ringed));
    }
    if (!set.empty())
        sets_.push_back(std::move(set));
}

void CounterSampler::begin_turn(uint64_t now_ns) {
    begin_ns_ = now_ns;
    for (Ringed& ringed : sets_[current_]) {
        ringed.before = ringed.rings.total().value_or(EventRings::Total{});
        ringed.rings.enable(!ringed.is_retired);
    }
}

// All of a set's events or none: else their places could not be compared.
void CounterSampler::end_turn(uint64_t now_ns) {
    Set& set = sets_[current_];
    for (Ringed& ringed : set)
        ringed.rings.enable(false);
    settle(true);
    bool is_whole = true;
    for (Ringed& ringed : set)
        is_whole &= ringed.is_retired || end_event(ringed, now_ns);
    if (is_whole) {
        for (const auto& [place, samples] : taken_)
            keep(place, samples);
        for (const Moment& moment : moments_)
            chosen_.offer(*moment.event, moment.pid, moment.tid, moment.time_ns);
    }
    taken_.clear();
    moments_.clear();
    current_ = (current_ + 1) % sets_.size();
    const auto last = std::ranges::find_if_not(set.rbegin(), set.rend(), &Ringed::is_retired);
    if (is_whole || last + 1 == set.rend())
        return;
    last->is_retired = true; // there are fewer counters than events, or somebody else needs one
    refused_[last->sampled.event->name] = "others used its counter, too";
}

// True: it was counted for all of the time. Then its part of the run is written.
bool CounterSampler::end_event(Ringed& ringed, uint64_t now_ns) {
    const auto after = ringed.rings.total();
    if (!after)
        return false;
    const EventRings::Total& before = ringed.before;
    const CounterValue part{static_cast<int64_t>(after->events - before.events), after->enabled_ns - before.enabled_ns,
                            after->running_ns - before.running_ns};
    if (part.count < 0 || running_share(part) < kLeastRunning)
        return false;
    trace::CounterSlice record{};
    record.event = file_.string(ringed.sampled.event->name);
    record.pid = pid_;
    record.begin_ns = begin_ns_;
    record.end_ns = now_ns;
    record.count = static_cast<uint64_t>(part.count);
    record.enabled_ns = *part.enabled_ns;
    record.running_ns = *part.running_ns;
    record.group = group_ + static_cast<uint32_t>(current_);
    file_.append(trace::RecordType::CounterSlice, 0, record);
    return true;
}

void CounterSampler::settle(bool all) {
    for (Set& set : sets_)
        for (Ringed& ringed : set)
            ringed.rings.drain([&](const PerfRecord& record) { take(ringed, record); }, all);
    const CounterEvent* const page_faults = find_event("page faults");
    faults_.drain(
        [&](const PerfRecord& fault) {
            const Place place{page_faults, fault.tid, profile_.place(fault)};
            keep(place, {fault.pid, 1, fault.period, fault.time_ns, fault.time_ns});
            if (is_known(place))
                chosen_.offer(*page_faults, fault.pid, fault.tid, fault.time_ns);
        },
        all);
}

void CounterSampler::take(const Ringed& ringed, const PerfRecord& record) {
    const Place place{ringed.sampled.event, record.tid, profile_.place(record)};
    if (taken_.size() >= kMostTaken && !taken_.contains(place)) {
        ++left_out_;
        return;
    }
    Samples& samples = taken_[place];
    samples.pid = record.pid;
    samples.period = ringed.sampled.period;
    samples.first_ns = samples.count == 0 ? record.time_ns : samples.first_ns;
    samples.last_ns = record.time_ns;
    ++samples.count;
    if (is_known(place) && moments_.size() < kMostTaken)
        moments_.push_back({ringed.sampled.event, record.pid, record.tid, record.time_ns});
}

void CounterSampler::keep(const Place& place, const Samples& samples) {
    const auto& [event, tid, path] = place;
    if (!is_known(place)) {
        left_out_ += samples.count;
        return;
    }
    trace::CounterSite*& site = sites_[place];
    if (!site) {
        trace::CounterSite begin{};
        begin.event = file_.string(event->name);
        begin.pid = samples.pid;
        begin.path = path;
        begin.first_ns = samples.first_ns;
        if (bytes_ + sizeof begin <= most_bytes_)
            site = file_.append(trace::RecordType::CounterSite, tid, begin);
        if (!site) {
            sites_.erase(place);
            left_out_ += samples.count;
            return;
        }
        bytes_ += sizeof begin;
    }
    update(site->samples, site->samples + samples.count);
    update(site->events, site->events + samples.count * samples.period);
    update(site->last_ns, samples.last_ns);
}

std::vector<int> CounterSampler::poll_fds() const {
    std::vector<int> fds;
    const auto add = [&](const std::vector<PerfRing>& rings) {
        for (const PerfRing& ring : rings)
            fds.push_back(ring.fd());
    };
    for (const Set& set : sets_)
        for (const Ringed& ringed : set)
            add(ringed.rings.rings());
    add(faults_.rings());
    return fds;
}

void CounterSampler::write_evidence() {
    std::string why;
    for (const auto& [event, reason] : refused_)
        why += fmt::format("{}{}: {}", why.empty() ? "" : "; ", event, reason);
    if (left_out_ > 0)
        why += fmt::format("{}{} samples found no room, or were of processes that had just begun", why.empty() ? "" : "; ", left_out_);
    file_.evidence("counter-samples",
                   sets_.empty() && !faults_.works() ? trace::EvidenceState::missing
                   : why.empty()                     ? trace::EvidenceState::ok
                                                     : trace::EvidenceState::limited,
                   why, "");
}

} // namespace plumb::record
