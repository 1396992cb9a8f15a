#include "record/counters/counter_evidence.h"

#include <fmt/format.h>
#include <map>

namespace plumb::record {

namespace {

std::string listed(const std::set<std::string>& names) {
    return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

void write_counter_evidence(const CountableGroups& counted, const std::set<std::string>& shared, const std::set<std::string>& unread,
                            NodeTraceWriter& file) {
    using trace::EvidenceState;
    file.evidence("kernel-events",
                  counted.software.empty() ? EvidenceState::missing : counted.software_why.empty() ? EvidenceState::ok : EvidenceState::limited,
                  counted.software_why, counted.software_why.empty() ? "" : "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON");
    std::map<std::string, std::set<std::string>> without; // reason: events that it takes away
    for (const auto& [event, reason] : counted.refused)
        if (!counted.believed.contains(event))
            without[reason].insert(event);
    std::string why;
    const auto add = [&](const std::string& text) { why += (why.empty() ? "" : "; ") + text; };
    if (!counted.used.empty())
        add(fmt::format("{} counts {}", fmt::join(counted.used, " and "), listed(counted.believed)));
    for (const auto& [reason, events] : without)
        add(events.contains("") ? reason : listed(events) + ": " + reason);
    if (!shared.empty())
        add("left out for a part of the run, because others used the counter, or because it ran backwards: " + listed(shared));
    if (!unread.empty())
        add("could not be read for a part of the run: " + listed(unread));
    std::string enable;
    if (counted.no_counters)
        enable = counted.forbidden ? "sysctl kernel.perf_event_paranoid=2, or allow perf_event_open in the container's seccomp profile"
                                   : "bare metal, or a virtual machine with a virtual PMU";
    else if (counted.no_papi)
        enable = "install PAPI (Debian: libpapi7.0)";
    const bool is_whole = without.empty() && shared.empty() && unread.empty();
    file.evidence("pmu", counted.hardware.empty() ? EvidenceState::missing : is_whole ? EvidenceState::ok : EvidenceState::limited, why,
                  enable);
}

} // namespace plumb::record
