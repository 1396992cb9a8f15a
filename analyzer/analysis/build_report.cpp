#include "analysis/build_report.h"

#include "analyses/analyses.h"
#include "analyses/time/run_totals.h"
#include "analysis/heap_profile.h"
#include "analysis/mpi_summary.h"
#include "analysis/overlaps.h"
#include "analysis/own_cost.h"
#include "analysis/present_findings.h"
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
                 kStreamingLineLimit = 10, kEventThreadLimit = 200, kEventRegionLimit = 200;

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
            take_findings(entry.id, [&] { return findings_of(entry, input); }, report);
    sort_findings(report.findings);
    mark_overlaps(report.findings);
    const auto within = [every_line](size_t limit) { return every_line ? SIZE_MAX : limit; };
    Profile profile = build_profile(paths, within(kHotLineLimit));
    report.hot_lines = std::move(profile.lines);
    report.libraries = std::move(profile.libraries);
    report.sampled_events = summarise_events(paths, within(kHotLineLimit), within(kEventThreadLimit), within(kEventRegionLimit));
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
