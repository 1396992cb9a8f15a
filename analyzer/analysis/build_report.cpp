#include "analysis/build_report.h"

#include "analyses/analyses.h"
#include "analyses/time/run_totals.h"
#include "analysis/heap_profile.h"
#include "analysis/mpi_summary.h"
#include "analysis/overlaps.h"
#include "analysis/own_cost.h"
#include "analysis/profile.h"
#include "diagnoses/metrics.h"
#include "support/error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kHotLineLimit = 50, kHeapLineLimit = 30, kMpiSiteLimit = 100, kMemoryObjectLimit = 200,
                 kStreamingLineLimit = 10;

void check_ids(std::span<const DiagnosisEntry> entries, const std::vector<std::string>& only) {
    for (const std::string& id : only) {
        const auto named = [&](const DiagnosisEntry& entry) { return id == entry.id; };
        if (std::any_of(entries.begin(), entries.end(), named))
            continue;
        std::string known;
        for (const DiagnosisEntry& entry : entries)
            known += fmt::format("{}{}", known.empty() ? "" : ", ", entry.id);
        throw Error(fmt::format("no diagnosis is called \"{}\"; there are {}", id, known));
    }
}

double finite(double value) {
    return std::isfinite(value) ? value : 0;
}

// What diagnoses computed from odd records (a run of no length, clocks that jump) must not break a reader.
void make_presentable(Finding& finding) {
    finding.confidence = std::clamp(finite(finding.confidence), 0.0, 1.0);
    finding.cost.seconds = std::max(0.0, finite(finding.cost.seconds));
    finding.cost.fraction = std::clamp(finite(finding.cost.fraction), 0.0, 1.0);
    finding.gain.fraction = std::clamp(finite(finding.gain.fraction), 0.0, 1.0);
    if (finding.gain.at_least)
        finding.gain.at_least = std::max(0.0, finite(*finding.gain.at_least));
    if (finding.gain.at_least && *finding.gain.at_least >= finding.gain.fraction) // the estimate itself: no bound was found
        finding.gain.at_least.reset();
    for (Location& location : finding.where)
        location.share = std::clamp(finite(location.share), 0.0, 1.0);
    std::erase_if(finding.evidence, [](const auto& entry) {
        const double* number = std::get_if<double>(&entry.second);
        return number && !std::isfinite(*number);
    });
}

void run_diagnosis(const DiagnosisEntry& entry, const DiagnosisInput& input, Report& report) {
    try {
        for (Finding& finding : findings_of(entry, input)) {
            make_presentable(finding);
            report.findings.push_back(std::move(finding));
        }
        report.looked_for.push_back(entry.id);
    } catch (const std::exception& error) {
        report.evidence.push_back({entry.id, model::Evidence::State::missing,
                                   fmt::format("this diagnosis failed: {}", error.what()),
                                   "please report it together with the run directory"});
    }
}

} // namespace

Report build_report(model::CallPaths& paths, std::span<const DiagnosisEntry> entries,
                    const std::vector<std::string>& only, bool every_line) {
    check_ids(entries, only);
    Report report;
    report.run = &paths.run();
    report.evidence = report.run->evidence;
    if (report.run->measured_noise()) { // no program ran, and the threads that measured are no program's
        report.noise = summarise_noise(*report.run);
        report.own_cost = own_cost_of(paths, 0);
        return report;
    }
    Analyses analyses = analyses_of(paths);
    const DiagnosisInput input{paths.run(), paths, analyses};
    report.metrics = metrics_of(paths, analyses);
    for (const DiagnosisEntry& entry : entries)
        if (only.empty() || std::find(only.begin(), only.end(), entry.id) != only.end())
            run_diagnosis(entry, input, report);
    std::stable_sort(report.findings.begin(), report.findings.end(),
                     [](const Finding& left, const Finding& right) {
                         return left.severity != right.severity ? left.severity > right.severity
                                                                : left.cost.fraction > right.cost.fraction;
                     });
    mark_overlaps(report.findings);
    const auto within = [every_line](size_t limit) { return every_line ? SIZE_MAX : limit; };
    Profile profile = build_profile(paths, within(kHotLineLimit));
    report.hot_lines = std::move(profile.lines);
    report.libraries = std::move(profile.libraries);
    report.sampled_seconds = profile.seconds;
    report.samples = profile.samples;
    report.heap_lines = build_heap_profile(paths, within(kHeapLineLimit));
    report.memory = summarise_memory(paths.run(), analyses.memory, kMemoryObjectLimit);
    report.bandwidth = summarise_bandwidth(analyses.bandwidth, totals_of(paths.run()).sampled_s);
    if (report.bandwidth)
        report.bandwidth->where = streaming_lines(analyses.bandwidth, paths, kStreamingLineLimit);
    report.mpi = summarise_mpi(paths, within(kMpiSiteLimit));
    report.heap_exact = heap_is_exact(paths.run());
    report.cpu_seconds = cpu_seconds_of(paths.run());
    report.own_cost = own_cost_of(paths, report.cpu_seconds);
    report.account = std::move(analyses.account);
    report.accesses = std::move(analyses.accesses.lines);
    return report;
}

} // namespace plumb
