#include "record/counters/countable_groups.h"

#include "platform/cpuset.h"
#include "record/counters/cpu_kinds.h"
#include "record/counters/event_check.h"
#include "record/counters/papi_counters.h"
#include "record/counters/perf_counters.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <unistd.h>

namespace plumb::record {

namespace {

// errno of a counter of this process alone that is closed at once; 0: there are counters.
int hardware_error() {
    const int fd = open_counter({PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}, 0, -1, false);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

} // namespace

CountableGroups::CountableGroups(platform::MachineCache& cache, int pid) : cache_(cache), pid_(pid) {
    std::vector<int> allowed = platform::affinity_mask();
    if (allowed.empty())
        allowed.push_back(0);
    add_software(allowed);
    const int error = hardware_error();
    forbidden = error == EACCES || error == EPERM;
    add_hardware(allowed, error);
}

// Kept by what they depend on; what others, who used the counters meanwhile, kept from counting is tried again the next time.
std::vector<TestedGroup> CountableGroups::tested_groups(CounterSource& source, const std::string& kept_as, std::pair<int, int> cpus) {
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
void CountableGroups::add_hardware(const std::vector<int>& allowed, int error) {
    const std::pair<int, int> cpus = unlike_cpus(cpu_kinds(""), allowed);
    const std::string conditions = fmt::format("on CPUs {} and {} by papi.h {}", cpus.first, cpus.second, PAPI_VER_CURRENT);
    auto perf = std::make_unique<PerfSource>();
    std::vector<TestedGroup> by_perf;
    if (error == 0)
        by_perf = tested_groups(*perf, "counters perf, " + coding_identity() + " " + conditions, cpus);
    else
        refused.emplace_back("cycles", perf->name() + std::string(": perf_event_open: ") + strerror(error));
    std::vector<TestedGroup> by_papi;
    std::unique_ptr<PapiSource> papi;
    if (!software.empty()) {
        papi = std::make_unique<PapiSource>();
        no_papi = papi->library().is_missing();
        if (papi->library().works())
            by_papi = tested_groups(*papi, "counters " + papi->library().identity() + conditions, cpus);
        else
            refused.emplace_back("", papi->library().why());
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
            open(*papi, *first, true);
        else if (counted(second) > 0)
            open(*perf, *second, false);
        if (first)
            note(*papi, *first);
        if (second)
            note(*perf, *second);
    }
    sources_.push_back(std::move(perf));
    if (papi)
        sources_.push_back(std::move(papi));
    no_counters = hardware.empty();
}

void CountableGroups::add_software(const std::vector<int>& allowed) {
    auto perf = std::make_unique<PerfSource>();
    const TestedGroup tested = test_group(*perf, software_group(), {allowed.front(), allowed.back()});
    for (const RefusedEvent& each : tested.refused)
        software_why += (software_why.empty() ? "" : "; ") + each.event + ": " + each.why;
    if (!tested.events.empty())
        open(*perf, tested, false);
    sources_.push_back(std::move(perf));
}

void CountableGroups::note(const CounterSource& source, const TestedGroup& tested) {
    for (const RefusedEvent& each : tested.refused) {
        const bool is_known = std::ranges::any_of(refused, [&](const auto& entry) { // in another group: the first reason is enough
            return entry.first == each.event && entry.second.starts_with(source.name() + ":");
        });
        if (!is_known)
            refused.emplace_back(each.event, source.name() + ": " + each.why);
    }
}

void CountableGroups::open(CounterSource& source, const TestedGroup& tested, bool by_papi) {
    // With nothing besides cycles and instructions, which the first group has, a group says nothing new.
    const bool is_first = hardware.empty(), is_kernels = is_software(*tested.events.front());
    const auto is_new = [&](const CounterEvent* event) { return !believed.contains(event->name); };
    if (!is_first && !is_kernels && std::ranges::none_of(tested.events, is_new))
        return;
    OpenedGroup opened = source.open(tested.events, pid_);
    if (!opened.group) {
        refused.emplace_back(tested.events[std::min(opened.refused, tested.events.size() - 1)]->name,
                             source.name() + ": " + opened.why);
        return;
    }
    auto& groups = is_kernels ? software : hardware;
    const auto number = static_cast<uint32_t>(hardware.size() + software.size() + 1);
    groups.push_back({std::move(opened.group), tested.events, number, by_papi});
    for (const CounterEvent* event : tested.events)
        if (!is_kernels)
            believed.insert(event->name);
    if (!is_kernels && std::ranges::find(used, source.name()) == used.end())
        used.push_back(source.name());
}

} // namespace plumb::record
