#include "diagnoses/code/loop_finding.h"

#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kMemoryBound = 0.5; // of a loop's bursts use up the bandwidth, or of its time goes into scattered accesses

} // namespace

Finding finding_about(const SampledLoop& loop, const RunTotals& totals, const std::string& id) {
    Finding finding;
    finding.id = id;
    finding.where = loop.lines.heaviest(kMostLines);
    finding.subject.kind = "call-site";
    finding.subject.name = finding.where.empty() ? fmt::format("{} in {}", loop.function, loop.module) : place_name(finding.where[0]);
    const double share = std::min(1.0, loop.under_ns * 1e-9 / totals.sampled_s);
    finding.cost.seconds = totals.wall_of_share(share);
    finding.cost.fraction = std::min(1.0, finding.cost.seconds / totals.wall_s);
    finding.cost.how = "estimated";
    const auto hits = static_cast<uint64_t>(std::llround(share * static_cast<double>(totals.samples)));
    finding.confidence = confidence_above(hits, totals.samples, kLeastLoopShare * 0.8);
    return finding;
}

std::string place_in_title(const Finding& finding) {
    if (finding.where.empty() || finding.where[0].line == 0)
        return "";
    const std::string& file = finding.where[0].file;
    return fmt::format(" at {}:{}", file.substr(file.rfind('/') + 1), finding.where[0].line);
}

double left_of_bandwidth(const Analyses& analyses, const SampledLoop& loop) {
    double left = 1;
    for (const BandwidthUse& use : analyses.bandwidth)
        for (const LoopUse& each : use.loops) {
            if (each.process != loop.process || each.loop->end < loop.facts.begin || each.loop->begin >= loop.facts.end)
                continue;
            if (each.full_fraction >= kMemoryBound)
                return 0;
            double used = 0, weight = 0;
            for (const model::TrafficBurst& part : each.loop->bursts) {
                const auto burst = std::ranges::lower_bound(use.bursts, part.begin_ns, {}, &HostBurst::begin_ns);
                if (burst == use.bursts.end() || burst->roof_bytes_per_s <= 0)
                    continue;
                used += std::min(1.0, burst->bytes_per_s() / burst->roof_bytes_per_s) * part.threads;
                weight += part.threads;
            }
            if (weight > 0)
                left = std::min(left, 1 - used / weight);
        }
    return left;
}

bool is_scattered(const model::Run& run, const SampledLoop& loop) {
    double scattered_ns = 0;
    for (const model::PageScatter& scatter : run.processes[loop.process].page_scatters)
        if (scatter.address >= loop.facts.begin && scatter.address < loop.facts.end)
            scattered_ns += static_cast<double>(scatter.time_ns);
    return scattered_ns >= kMemoryBound * loop.time_ns;
}

} // namespace plumb
