#include "diagnoses/access/emulated_accesses.h"

#include "analyses/analyses.h"
#include "diagnoses/access/unaligned_objects.h"
#include "diagnoses/common/access_words.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

constexpr double kLeastRate_per_s = 100; // fewer cost less than 0.1 % of a CPU
constexpr double kFault_s = 1e-6; // entering the kernel, decoding the instruction, assembling the value: 0.5 to 5 us

std::map<std::string, uint64_t> fault_counts(const model::Run& run) {
    std::map<std::string, uint64_t> counts;
    for (const model::Host& host : run.hosts)
        for (const model::EventCount& event : host.event_counts)
            if (event.name == "alignment-faults" || event.name == "emulation-faults")
                counts[event.name] += event.count;
    return counts;
}

Finding finding_of(const DiagnosisInput& input, const RunTotals& totals, const std::string& name, uint64_t count) {
    const bool alignment = name == "alignment-faults";
    double seconds = kFault_s * static_cast<double>(count);
    if (totals.system_s > 0)
        seconds = std::min(seconds, totals.system_s); // they are part of it
    Finding finding;
    finding.id = "kernel-time";
    finding.confidence = 0.8;
    finding.cost.seconds = totals.cpu_s > 0 ? totals.wall_of_share(std::min(1.0, seconds / totals.cpu_s)) : seconds;
    finding.cost.fraction = std::min(1.0, finding.cost.seconds / totals.wall_s);
    finding.cost.how = "estimated";
    finding.title = fmt::format("The kernel emulated {} {} of the program, {:.0f} a second", grouped(count),
                                alignment ? "unaligned accesses" : "instructions that this CPU lacks",
                                static_cast<double>(count) / totals.wall_s);
    if (alignment)
        for (const UnalignedObject& object : unaligned_objects(input.analyses.accesses, [](const AccessLine& line) {
                 return line.trapped() && !line.kind.locked;
             }))
            if (finding.where.empty())
                finding.where = object.lines.heaviest(5);
    finding.gain = {finding.cost.fraction, "all of it, once no access faults"};
    finding.subject.kind = "call-site";
    finding.subject.name = finding.where.empty() ? name : place_name(finding.where[0]);
    finding.subject.details["cause"] = name;
    finding.evidence["fault_count"] = static_cast<int64_t>(count);
    finding.evidence["faults_per_second"] = static_cast<double>(count) / totals.wall_s;
    finding.evidence["assumed_time_per_fault_us"] = kFault_s * 1e6;
    finding.evidence["system_seconds"] = totals.system_s;
    finding.advice.push_back(
        alignment ? Advice{"Align the data, or compile for unaligned data",
                           "order common blocks and structures by width; use memcpy instead of a cast, or "
                           "-mno-unaligned-access (arm) and -mstrict-align, so that the compiler assembles the value. Making "
                           "the first such access fatal shows the line (prctl PR_SET_UNALIGN where the kernel has "
                           "it)", "code", ""}
                  : Advice{"Build for the CPU that runs it", "use -march=native, or the architecture of the oldest "
                                                             "machine", "code",
                           ""});
    return finding;
}

} // namespace

std::vector<Finding> emulated_access_findings(const DiagnosisInput& input, const RunTotals& totals) {
    std::vector<Finding> findings;
    for (const auto& [name, count] : fault_counts(input.run))
        if (totals.wall_s > 0 && static_cast<double>(count) >= kLeastRate_per_s * totals.wall_s)
            findings.push_back(finding_of(input, totals, name, count));
    return findings;
}

} // namespace plumb
