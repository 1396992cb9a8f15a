// Split locks by the kernel's log: each stops the memory bus of the whole machine, and the kernel makes its program pay for it.
// The log names each program at least once and leaves out many, so their number is a lower bound and their cost is not known.
#include "analyses/lines/line_shares.h"
#include "diagnoses/machine/machine_findings.h"
#include "diagnoses/machine/program_names.h"
#include "support/figures.h"

#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb {

std::vector<Finding> logged_split_locks(const MachineInput& input) {
    if (!input.kernel_log)
        return {};
    LineShares lines;
    std::map<std::string, double> programs;
    std::set<std::string> files;
    uint64_t count = 0;
    for (const kernel_log::PlacedGroup& each : input.kernel_log->groups) {
        const kernel_log::Message& message = each.group.first;
        if (message.kind != kernel_log::Kind::split_lock && message.kind != kernel_log::Kind::bus_lock)
            continue;
        count += each.group.count;
        programs[message.program] += static_cast<double>(each.group.count);
        if (!each.place.frames.empty())
            lines.add(each.place.frames.front(), static_cast<double>(each.group.count));
    }
    if (count == 0)
        return {};
    uint64_t unwritten = 0;
    for (const auto& [function, times] : input.kernel_log->suppressed)
        unwritten +=
            function.find("split_lock") != std::string::npos || function.find("bus_lock") != std::string::npos ? times : 0;
    Finding finding;
    finding.id = "split-lock";
    finding.title =
        fmt::format("{} {} locked instructions that cross a cache line: the kernel's log has {}", program_list(programs),
                    programs.size() == 1 ? "uses" : "use", counted(count, "message", "messages"));
    finding.confidence = 0.95;
    finding.where = lines.heaviest(5);
    finding.cost = {0, 0, "bound"};
    finding.gain = {0, "not known: the kernel writes the first of a program, not each"};
    finding.subject.kind = "call-site";
    finding.subject.name = finding.where.empty() ? program_list(programs) : place_name(finding.where[0]);
    finding.evidence["message_count"] = static_cast<int64_t>(count);
    finding.evidence["suppressed_message_count"] = static_cast<int64_t>(unwritten);
    finding.advice.push_back({"Align what is locked",
                              "an atomic variable must not cross a cache line: no packed structures, no pointers made of bytes. "
                              "plumb run on this program names the data and counts each of them",
                              "code", ""});
    return {finding};
}

} // namespace plumb
