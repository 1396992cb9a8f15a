// Memory that is allocated and not freed while the run goes on, by allocation site. A cache that is never emptied grows like a
// leak, although its destructor frees all of it in the end: what counts is what lived when the heap was largest. Info only:
// whether it was meant to live until the end is for the reader to judge. What a program sets up once and keeps is left
// out as far as the records can tell: a leak goes on allocating late in its process's life, in many pieces.
#include "analyses/lines/line_shares.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/registry.h"
#include "model/source_line.h"
#include "support/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

constexpr double kLeastLife_s = 1;
constexpr double kLeastLive_bytes = 4e6;
constexpr double kLeastLiveShare = 0.5; // of what the site allocated lived at one time
constexpr double kLeastHeapShare = 0.1; // of everything that did
constexpr uint64_t kLeastSamples = 8;   // allocations seen: fewer are a buffer or two
constexpr double kGoesOnUntil = 0.75;   // of the process's life
constexpr double kSpread = 0.5;         // part of its life over which the site was active, at least
constexpr size_t kMostFindings = 3;

struct Growth {
    model::SourceFrame frame;
    double live_bytes = 0;  // when the heap was largest, or at the end
    double never_freed_bytes = 0;
    double allocated_bytes = 0, allocations = 0;
    uint64_t samples = 0;
    uint64_t first_ns = UINT64_MAX, last_ns = 0; // of its sampled allocations
    double active_s() const { return last_ns > first_ns ? static_cast<double>(last_ns - first_ns) * 1e-9 : 0; }
    bool exact = false;
    uint32_t pid = 0;
};

double never_freed_bytes_of(const model::HeapSite& site) {
    return site.allocated_bytes > site.freed_bytes ? static_cast<double>(site.allocated_bytes - site.freed_bytes) : 0;
}

// Sites of one process by source line; several call paths may lead to one line.
std::vector<Growth> growing_lines(model::CallPaths& paths, size_t index) {
    const model::Process& process = paths.run().processes[index];
    const double life_s = static_cast<double>(process.end_ns - process.start_ns) * 1e-9;
    std::vector<Growth> growing;
    if (process.end_ns <= process.start_ns || life_s < kLeastLife_s)
        return growing;
    double all_live = 0;
    std::map<model::SourceLine, Growth> lines;
    for (const model::HeapSite& site : process.heap.sites) {
        const double never_freed = never_freed_bytes_of(site);
        const double live = std::max(never_freed, static_cast<double>(site.peak_live_bytes));
        const uint64_t samples = process.heap.every_event ? site.allocations : site.samples;
        all_live += live;
        // What a line needs for a moment only, on another path than what it keeps, hides no growth.
        if (samples >= kLeastSamples && live < kLeastLiveShare * static_cast<double>(site.allocated_bytes))
            continue;
        const model::SourceFrame frame = paths.user_frame(index, site.path);
        Growth& line = lines[model::source_line(frame)];
        line.frame = frame;
        line.live_bytes += live;
        line.never_freed_bytes += never_freed;
        line.allocated_bytes += static_cast<double>(site.allocated_bytes);
        line.allocations += static_cast<double>(site.allocations);
        line.samples += samples;
        line.first_ns = std::min(line.first_ns, std::max(site.first_ns, process.start_ns));
        line.last_ns = std::max(line.last_ns, std::max(site.last_ns, process.start_ns));
        line.exact = process.heap.every_event;
        line.pid = process.pid;
    }
    for (const auto& [key, line] : lines) {
        const double last_s = static_cast<double>(line.last_ns - process.start_ns) * 1e-9;
        if (last_s >= kGoesOnUntil * life_s && line.active_s() >= kSpread * life_s && line.live_bytes >= kLeastLive_bytes &&
            line.live_bytes >= kLeastLiveShare * line.allocated_bytes && line.live_bytes >= kLeastHeapShare * all_live &&
            line.samples >= kLeastSamples)
            growing.push_back(line);
    }
    std::sort(growing.begin(), growing.end(),
              [](const Growth& left, const Growth& right) { return left.live_bytes > right.live_bytes; });
    return growing;
}

class HeapLeak : public Diagnosis {
  public:
    const char* id() const override { return "heap-leak"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        std::vector<Growth> all;
        for (size_t process = 0; process < input.run.processes.size(); process++)
            for (const Growth& growth : growing_lines(input.paths, process))
                all.push_back(growth);
        std::sort(all.begin(), all.end(),
                  [](const Growth& left, const Growth& right) { return left.live_bytes > right.live_bytes; });
        std::vector<Finding> findings;
        for (size_t i = 0; i < all.size() && i < kMostFindings; i++)
            findings.push_back(finding_of(all[i]));
        return findings;
    }

  private:
    Finding finding_of(const Growth& growth) const {
        Finding finding;
        finding.id = id();
        finding.fixed_severity = Severity::info;
        // Of n sampled allocations the live part is known to about 1 / sqrt(n).
        finding.confidence = growth.exact ? 0.8 : 0.8 * (1 - 1 / std::sqrt(static_cast<double>(growth.samples) + 1));
        LineShares lines;
        lines.add(growth.frame, growth.live_bytes);
        finding.where = lines.heaviest(1);
        const std::string place = finding.where.empty() ? "an unknown place" : place_name(finding.where[0]);
        const double freed_at_end = 1 - growth.never_freed_bytes / growth.live_bytes;
        finding.title = fmt::format("Memory allocated at {} grew as long as the program ran: {} were {}", place,
                                    format_bytes(growth.live_bytes),
                                    freed_at_end < 0.5 ? "never freed" : "freed only when it ended");
        finding.cost.how = growth.exact ? "measured" : "estimated";
        finding.gain = {0, "memory, not time"};
        finding.subject.kind = "allocation";
        finding.subject.name = place;
        finding.evidence["live_bytes"] = growth.live_bytes;
        finding.evidence["freed_at_end_fraction"] = freed_at_end;
        finding.evidence["live_fraction"] = growth.live_bytes / growth.allocated_bytes;
        finding.evidence["growth_bytes_per_second"] =
            growth.active_s() > 0 ? growth.live_bytes / growth.active_s() : 0.0;
        finding.evidence["allocation_count"] = growth.allocations;
        finding.evidence["sampled_allocation_count"] = static_cast<int64_t>(growth.samples);
        finding.evidence["pid"] = static_cast<int64_t>(growth.pid);
        finding.advice.push_back({"Check who owns this memory",
            "it was allocated during the whole run and kept until the end; this is right for a result that is needed until "
            "then, but a cache needs a limit", "code", ""});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_heap_leak() { return std::make_unique<HeapLeak>(); }

} // namespace plumb
