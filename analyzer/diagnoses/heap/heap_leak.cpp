// Memory that is allocated and not freed while the run goes on, by allocation site. A cache that is never emptied grows like a
// leak, although its destructor frees all of it in the end: what counts is what lived when the heap was largest. Info only:
// whether it was meant to live until the end is for the reader to judge. What a program sets up once and keeps is left
// out as far as the records can tell: a leak goes on allocating late in its process's life, in many pieces.
#include "analyses/lines/line_shares.h"
#include "diagnoses/heap/heap_growth.h"
#include "diagnoses/registry.h"
#include "support/figures.h"

#include <cmath>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr size_t kMostFindings = 3;

class HeapLeak : public Diagnosis {
  public:
    const char* id() const override { return "heap-leak"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const std::vector<HeapGrowth> all = heap_growths(input.paths);
        std::vector<Finding> findings;
        for (size_t i = 0; i < all.size() && i < kMostFindings; i++)
            findings.push_back(finding_of(all[i]));
        return findings;
    }

  private:
    Finding finding_of(const HeapGrowth& growth) const {
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
