#include "record/counters/counter_watch.h"

#include "platform/cpuset.h"
#include "record/counters/cpu_kinds.h"
#include "record/counters/event_check.h"
#include "record/counters/papi_counters.h"
#include "record/counters/perf_counters.h"
#include "record/run/interval.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <map>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr double kShare = 0.003;       // of the time, for reading and changing counters
constexpr uint64_t kRecordsEachSlice = 8;

// errno of a counter of this process alone that is closed at once; 0: there are counters.
int hardware_error() {
    const int fd = open_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0, -1, false);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

std::string listed(const std::set<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

CounterWatch::CounterWatch(NodeTraceWriter& file, platform::MachineCache& cache, int pid)
    : file_(file), cache_(cache), pid_(pid) {
    std::vector<int> allowed = platform::affinity_mask();
    if (allowed.empty())
        allowed.push_back(0);
    count_software(allowed);
    const int error = hardware_error();
    forbidden_ = error == EACCES || error == EPERM;
    count_hardware(allowed, error);
    begin_ns_ = monotonic_ns();
    if (!rotated_.empty() || !always_.empty())
        begin_slice(begin_ns_);
}

// Kept by what they depend on; what others, who used the counters meanwhile, kept from counting is tried again the next time.
std::vector<TestedGroup> CounterWatch::tested_groups(CounterSource& source, const std::string& kept_as, std::pair<int, int> cpus) {
    if (const auto kept = cache_.find(kept_as))
        if (std::vector<TestedGroup> groups = parse_groups(*kept); !groups.empty())
            return groups;
    std::vector<TestedGroup> groups;
    for (const CounterGroupPlan& plan : hardware_groups()) {
        groups.push_back(test_group(source, plan, cpus));
        if (groups.size() == 1 && groups.front().events.empty())
            break; // neither cycles nor instructions: the others would be refused for the same reason
    }
    const auto works = [](const TestedGroup& group) { return group.is_lasting && !group.events.empty(); };
    if (std::ranges::all_of(groups, &TestedGroup::is_lasting) && std::ranges::any_of(groups, works))
        cache_.keep(kept_as, format_groups(groups));
    return groups;
}

// PAPI is asked where perf events work at all, on which it is built: it is not loaded else. It knows more events; each group is
// counted by the source that counts more of its events right.
void CounterWatch::count_hardware(const std::vector<int>& allowed, int error) {
    const std::pair<int, int> cpus = unlike_cpus(cpu_kinds(""), allowed);
    const std::string conditions = fmt::format("on CPUs {} and {} by papi.h {}", cpus.first, cpus.second, PAPI_VER_CURRENT);
    auto perf = std::make_unique<PerfSource>();
    std::vector<TestedGroup> by_perf;
    if (error == 0)
        by_perf = tested_groups(*perf, "counters perf " + conditions, cpus);
    else
        refused_.emplace_back("cycles", perf->name() + std::string(": perf_event_open: ") + strerror(error));
    std::vector<TestedGroup> by_papi;
    std::unique_ptr<PapiSource> papi;
    if (!always_.empty()) {
        papi = std::make_unique<PapiSource>();
        no_papi_ = papi->library().is_missing();
        if (papi->library().works())
            by_papi = tested_groups(*papi, "counters " + papi->library().identity() + conditions, cpus);
        else
            refused_.emplace_back("", papi->library().why());
    }
    for (const CounterGroupPlan& plan : hardware_groups()) {
        const auto of_plan = [&](const std::vector<TestedGroup>& groups) -> const TestedGroup* {
            const auto found = std::ranges::find(groups, plan.name, &TestedGroup::name);
            return found == groups.end() ? nullptr : &*found;
        };
        const TestedGroup *first = of_plan(by_papi), *second = of_plan(by_perf);
        const auto counted = [](const TestedGroup* group) { return group ? group->events.size() : 0; };
        const bool is_papi = counted(first) > 0 && counted(first) >= counted(second);
        if (is_papi)
            begin(*papi, *first, true);
        else if (counted(second) > 0)
            begin(*perf, *second, false);
        if (first)
            note(*papi, *first);
        if (second)
            note(*perf, *second);
    }
    sources_.push_back(std::move(perf));
    if (papi)
        sources_.push_back(std::move(papi));
    no_counters_ = rotated_.empty();
}

void CounterWatch::count_software(const std::vector<int>& allowed) {
    auto perf = std::make_unique<PerfSource>();
    const TestedGroup tested = test_group(*perf, software_group(), {allowed.front(), allowed.back()});
    for (const RefusedEvent& refused : tested.refused)
        software_why_ += (software_why_.empty() ? "" : "; ") + refused.event + ": " + refused.why;
    if (!tested.events.empty())
        begin(*perf, tested, false);
    sources_.push_back(std::move(perf));
}

void CounterWatch::note(const CounterSource& source, const TestedGroup& tested) {
    for (const RefusedEvent& refused : tested.refused) {
        const bool is_known = std::ranges::any_of(refused_, [&](const auto& entry) { // in another group: the first reason is enough
            return entry.first == refused.event && entry.second.starts_with(source.name() + ":");
        });
        if (!is_known)
            refused_.emplace_back(refused.event, source.name() + ": " + refused.why);
    }
}

void CounterWatch::begin(CounterSource& source, const TestedGroup& tested, bool by_papi) {
    // With nothing besides cycles and instructions, which the first group has, a group says nothing new.
    const bool is_first = rotated_.empty(), is_kernels = is_software(*tested.events.front());
    const auto is_new = [&](const CounterEvent* event) { return !believed_.contains(event->name); };
    if (!is_first && !is_kernels && std::ranges::none_of(tested.events, is_new))
        return;
    OpenedGroup opened = source.open(tested.events, pid_);
    if (!opened.group) {
        refused_.emplace_back(tested.events[std::min(opened.refused, tested.events.size() - 1)]->name,
                              source.name() + ": " + opened.why);
        return;
    }
    auto& groups = is_kernels ? always_ : rotated_;
    const auto number = static_cast<uint32_t>(rotated_.size() + always_.size() + 1);
    groups.push_back({std::move(opened.group), tested.events, number, by_papi, {}});
    for (const CounterEvent* event : tested.events)
        if (!is_kernels)
            believed_.insert(event->name);
    if (!is_kernels && std::ranges::find(used_, source.name()) == used_.end())
        used_.push_back(source.name());
}

void CounterWatch::begin_slice(uint64_t now_ns) {
    const auto begin_group = [&](Counted& counted) {
        if (const std::string why = counted.group->start(); !why.empty())
            refused_.emplace_back(counted.events.front()->name, why);
        counted.before = counted.group->read().value_or(std::vector<CounterValue>{});
    };
    if (!rotated_.empty())
        begin_group(rotated_[current_]);
    for (Counted& counted : always_)
        begin_group(counted);
    slice_ns_ = now_ns;
    next_ns_ = now_ns + interval_ns(now_ns - begin_ns_, kRecordsEachSlice);
}

void CounterWatch::end_slice(uint64_t now_ns) {
    const auto end_group = [&](Counted& counted, bool goes_on) {
        if (!goes_on)
            counted.group->stop();
        if (const auto values = counted.group->read())
            write(counted, *values, now_ns);
        else
            unread_.insert(counted.events.front()->name);
    };
    if (!rotated_.empty()) {
        end_group(rotated_[current_], false);
        current_ = (current_ + 1) % rotated_.size();
    }
    for (Counted& counted : always_)
        end_group(counted, true);
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
void CounterWatch::write(const Counted& counted, const std::vector<CounterValue>& values, uint64_t now_ns) {
    for (size_t i = 0; i < values.size() && i < counted.before.size(); ++i) {
        const CounterValue &before = counted.before[i], &after = values[i];
        CounterValue part{after.count - before.count, {}, {}};
        if (after.enabled_ns && before.enabled_ns && after.running_ns && before.running_ns) {
            part.enabled_ns = *after.enabled_ns - *before.enabled_ns;
            part.running_ns = *after.running_ns - *before.running_ns;
        }
        if (part.count < 0 || running_share(part) < kLeastRunning) {
            shared_.insert(counted.events[i]->name);
            continue;
        }
        trace::CounterSlice record{};
        record.event = file_.string(counted.events[i]->name);
        record.pid = static_cast<uint32_t>(pid_);
        record.begin_ns = slice_ns_;
        record.end_ns = now_ns;
        record.count = static_cast<uint64_t>(part.count);
        record.enabled_ns = part.enabled_ns.value_or(0);
        record.running_ns = part.running_ns.value_or(0);
        record.group = counted.number;
        record.flags = counted.by_papi ? uint32_t{trace::kCountedByPapi} : 0;
        file_.append(trace::RecordType::CounterSlice, 0, record);
    }
}

void CounterWatch::finish(uint64_t now_ns) {
    if (next_ns_ != UINT64_MAX)
        end_slice(now_ns);
    next_ns_ = UINT64_MAX;
    write_evidence();
}

void CounterWatch::write_evidence() {
    using trace::EvidenceState;
    file_.evidence("kernel-events",
                   always_.empty() ? EvidenceState::missing : software_why_.empty() ? EvidenceState::ok : EvidenceState::limited,
                   software_why_, software_why_.empty() ? "" : "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON");
    std::map<std::string, std::set<std::string>> without; // reason: events that it takes away
    for (const auto& [event, reason] : refused_)
        if (!believed_.contains(event))
            without[reason].insert(event);
    std::string why;
    const auto add = [&](const std::string& text) { why += (why.empty() ? "" : "; ") + text; };
    if (!used_.empty())
        add(fmt::format("{} counts {}", fmt::join(used_, " and "), listed(believed_)));
    for (const auto& [reason, events] : without)
        add(events.contains("") ? reason : listed(events) + ": " + reason);
    if (!shared_.empty())
        add("left out for a part of the run, because others used the counter, or because it ran backwards: " + listed(shared_));
    if (!unread_.empty())
        add("could not be read for a part of the run: " + listed(unread_));
    std::string enable;
    if (no_counters_)
        enable = forbidden_ ? "sysctl kernel.perf_event_paranoid=2, or allow perf_event_open in the container's seccomp profile"
                            : "bare metal, or a virtual machine with a virtual PMU";
    else if (no_papi_)
        enable = "install PAPI (Debian: libpapi7.0)";
    const bool is_whole = without.empty() && shared_.empty() && unread_.empty();
    file_.evidence("pmu", rotated_.empty() ? EvidenceState::missing : is_whole ? EvidenceState::ok : EvidenceState::limited, why,
                   enable);
}

} // namespace plumb::record
