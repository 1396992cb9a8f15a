#include "analysis/machine_report.h"

#include "analysis/present_findings.h"
#include "analysis/profile.h"
#include "diagnoses/machine/machine_findings.h"
#include "kernel_log/study.h"
#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>

namespace plumb {

namespace {

constexpr size_t kMachineLines = 30;

std::optional<kernel_log::Study> kernel_log_of(const model::Run& run, model::SourceResolver& resolver) {
    const std::string path = run.directory + "/" + kKernelLogFile;
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error))
        return std::nullopt;
    kernel_log::Places places(&run, {}, resolver);
    return kernel_log::study_log(path, places);
}

// No program is touched: the recorder is all there is, and what the kernel does for each sample.
OwnCost cost_of(const model::Run& run, double busy_s) {
    OwnCost cost;
    uint64_t samples = 0;
    for (const model::Host& host : run.hosts) {
        cost.seconds += static_cast<double>(host.recorder_cpu_ns) * 1e-9;
        samples += host.samples;
    }
    cost.fraction = busy_s > 0 ? cost.seconds / busy_s : 0;
    cost.bytes = run.recorded_bytes;
    cost.how = fmt::format(
        "Recorder {} (its own CPU clock); what the kernel does for {} ({} a second and CPU that is busy) is not in it.",
        format_seconds(cost.seconds), counted(samples, "sample", "samples"),
        busy_s > 0 ? three_digits(static_cast<double>(samples) / busy_s) : "0");
    return cost;
}

void check_ids(const std::vector<std::string>& only) {
    for (const std::string& id : only)
        if (std::ranges::none_of(kMachineDiagnoses, [&](const MachineDiagnosis& each) { return id == each.id; })) {
            std::string known;
            for (const MachineDiagnosis& each : kMachineDiagnoses)
                known += fmt::format("{}{}", known.empty() ? "" : ", ", each.id);
            throw Error(fmt::format("no diagnosis of a machine is called \"{}\"; there are {}", id, known));
        }
}

} // namespace

Report build_machine_report(model::CallPaths& paths, model::SourceResolver& resolver, const std::vector<std::string>& only) {
    check_ids(only);
    Report report;
    report.run = &paths.run();
    report.evidence = report.run->evidence;
    report.system = summarise_system(paths);
    if (report.system->kernel_sampled_s > 0 && report.system->routines.empty())
        report.evidence.push_back({"kernel-names", model::Evidence::State::missing,
                                   "routines of the kernel have no names: /proc/kallsyms shows no addresses to this user",
                                   "make the report as root, or sysctl kernel.kptr_restrict=0"});
    report.cpu_seconds = report.system->time.busy_s();
    report.own_cost = cost_of(paths.run(), report.cpu_seconds);
    const std::optional<kernel_log::Study> log = kernel_log_of(*report.run, resolver);
    const MachineInput input{paths, *report.system, log ? &*log : nullptr};
    for (const MachineDiagnosis& diagnosis : kMachineDiagnoses) {
        if (!only.empty() && std::ranges::find(only, diagnosis.id) == only.end())
            continue;
        take_findings(
            diagnosis.id,
            [&] {
                std::vector<Finding> findings = diagnosis.diagnose(input);
                for (Finding& finding : findings)
                    finding.severity = finding.fixed_severity.value_or(severity_of(finding.gain, report.system->seconds));
                return findings;
            },
            report);
    }
    sort_findings(report.findings);
    Profile profile = build_profile(paths, kMachineLines);
    report.hot_lines = std::move(profile.lines);
    report.libraries = std::move(profile.libraries);
    report.sampled_seconds = profile.seconds;
    report.samples = profile.samples;
    return report;
}

} // namespace plumb
