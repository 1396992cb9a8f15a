// Time in the memory allocator: every sample with the allocator on its call path, page faults and system calls
// of the allocator included. Page faults of the program's first touch of fresh memory are kernel-time's.
#include "analyses/analyses.h"
#include "analyses/lines/launch_command.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/changeable_code.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/unplaced_lines.h"
#include "diagnoses/heap/allocation_parts.h"
#include "diagnoses/heap/heap_growth.h"
#include "diagnoses/registry.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastShare = 0.03; // of the CPU time
constexpr uint64_t kLeastHits = 20;  // whatever the run's length: the confidence speaks for the rest
constexpr double kMainLine = 0.3;    // of the allocator's time
constexpr double kReuse_s = 0.5e-9;  // to take a block that is kept, or to keep one: at the least a load or a store
constexpr size_t kFewLines = 5;      // as many as somebody changes in an afternoon

std::string heaviest(const std::map<std::string, uint64_t>& hits) {
    const auto by_hits = [](const auto& left, const auto& right) { return left.second < right.second; };
    return hits.empty() ? std::string() : std::max_element(hits.begin(), hits.end(), by_hits)->first;
}

bool is_glibc(const std::string& module) { return module.starts_with("libc."); }

class HeapBound : public Diagnosis {
  public:
    const char* id() const override { return "heap-bound"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const HeapProfile& profile = input.analyses.heap;
        const double confidence = confidence_above(profile.hits, profile.samples, kLeastShare);
        const RunTotals totals = totals_of(input.run);
        if (profile.hits < kLeastHits || confidence < kLeastConfidence ||
            totals.wall_s <= 0)
            return {};
        const std::string module = heaviest(profile.hits_by_module);
        Finding finding;
        finding.id = id();
        finding.confidence = confidence;
        const AllocationParts parts = allocation_parts_of(input.paths);
        const double around = static_cast<double>(parts.all()) / static_cast<double>(profile.samples);
        const auto cost_of = [&](double share) {
            return Cost{totals.wall_of_share(share * profile.program_part()),
                        profile.fraction_of_bare_run(totals.wall_of_share(share * profile.program_part()), totals.wall_s,
                                                     totals.wall_of_share(1)), "estimated"};
        };
        finding.cost = cost_of(std::min(1.0, profile.share() + around));
        const LineShares lines = add_places(input, profile, finding);
        finding.title = fmt::format("The memory allocator ({}) takes {:.0f} % of the CPU time", module,
                                    100 * profile.share());
        if (!finding.where.empty())
            finding.title += ", mainly for " + place_name(finding.where[0]);
        finding.gain = {finding.cost.fraction,
                        "estimated for these lines without any allocation: the allocator's own time, and the time of its "
                        "callers to build and destroy what the blocks hold, to call it, and to walk what is freed; a "
                        "faster allocator saves a part of the first",
                        cost_of(certain_share(input, profile, totals)).fraction * certain_part(input, profile, finding.where)};
        finding.subject.kind = "allocation";
        finding.subject.name = finding.where.empty() ? module : place_name(finding.where[0]);
        finding.subject.details["allocator"] = module;
        add_evidence(input, profile, totals, finding);
        const auto share_of = [&](uint64_t samples) { return static_cast<double>(samples) / static_cast<double>(profile.samples); };
        finding.evidence["contents_fraction"] = share_of(parts.contents);
        finding.evidence["call_lines_fraction"] = share_of(parts.calls);
        finding.evidence["release_walks_fraction"] = share_of(parts.release);
        add_advice(input, profile, module, finding);
        note_unplaced(lines, input.run, finding);
        return {finding};
    }

  private:
    // Frame-pointer chains break inside a C library that was built without them: the samples then know that the
    // allocator ran, not for whom. The shim's heap sampler does know who allocates.
    static LineShares add_places(const DiagnosisInput& input, const HeapProfile& profile, Finding& finding) {
        const LineShares allocating = allocation_lines(input.paths, profile);
        const bool by_heap = allocating.total() > 0 &&
                             allocating.unplaced_fraction() <= profile.sampled_lines.unplaced_fraction();
        const LineShares& lines = by_heap ? allocating : profile.sampled_lines;
        finding.where = lines.heaviest(kFewLines);
        finding.evidence["where_from"] = std::string(
            by_heap ? "allocator time, split by sampled allocation counts"
                    : "call paths of the time samples");
        return lines;
    }

    // Of the CPU time: what calls of the allocator take beyond what it takes to use memory again, by the samples' error less.
    static double certain_share(const DiagnosisInput& input, const HeapProfile& profile, const RunTotals& totals) {
        const HeapCounts counts = heap_counts_of(input.run);
        const double calls = counts.recorded ? static_cast<double>(counts.allocations + counts.frees) : 0;
        const double reuse = profile.program_part() > 0 ? calls * kReuse_s / (totals.cpu_s * profile.program_part()) : 0;
        return std::max(0.0, profile.share() - share_error(profile.hits, profile.samples) - reuse);
    }

    // Of the time in the allocator: what changing a few lines so that they use memory again saves. Where allocation is spread
    // thinly over a whole program, no such change saves much; what lives on cannot be used again; nor can code be changed
    // that came with the system.
    static double certain_part(const DiagnosisInput& input, const HeapProfile& profile, const std::vector<Location>& named) {
        double all_s = 0, users_s = 0;
        for (const auto& [process, seconds] : profile.seconds_by_process) {
            all_s += seconds;
            users_s += is_users_program(input.run.processes[process]) ? seconds : 0;
        }
        const LineShares sparable = sparable_lines(input.paths, profile);
        double at_lines = 0;
        for (const Location& location : sparable.total() > 0 ? sparable.heaviest(kFewLines) : named)
            at_lines += location.share;
        return all_s > 0 ? users_s / all_s * std::min(1.0, at_lines) : 0;
    }

    static void add_evidence(const DiagnosisInput& input, const HeapProfile& profile, const RunTotals& totals,
                             Finding& finding) {
        const HeapCounts counts = heap_counts_of(input.run);
        finding.evidence["heap_fraction"] = profile.share();
        finding.evidence["heap_error_fraction"] = share_error(profile.hits, profile.samples);
        finding.evidence["sample_count"] = static_cast<int64_t>(profile.hits);
        finding.evidence["kernel_part_fraction"] =
            static_cast<double>(profile.kernel_hits) / static_cast<double>(profile.hits);
        finding.evidence["minor_faults_per_second"] = static_cast<double>(totals.minor_faults) / totals.wall_s;
        if (!counts.recorded || counts.allocations == 0)
            return;
        const double calls = static_cast<double>(counts.allocations + counts.frees + counts.reallocations);
        finding.evidence["allocation_count"] = static_cast<int64_t>(counts.allocations);
        finding.evidence["allocations_per_second"] = static_cast<double>(counts.allocations) / totals.wall_s;
        finding.evidence["mean_request_bytes"] =
            static_cast<double>(counts.allocated_bytes) / static_cast<double>(counts.allocations);
        finding.evidence["time_per_call_ns"] = profile.share() * profile.program_part() * totals.cpu_s * 1e9 / calls;
    }

    // Where most of the memory of these lines is kept to the end, freeing it is what helps first: memory that is used again
    // takes no page faults.
    static void add_growth(const DiagnosisInput& input, Finding& finding) {
        for (const HeapGrowth& growth : heap_growths(input.paths))
            for (const Location& location : finding.where)
                if (location.share >= kMainLine && location.line == growth.frame.line && location.file == growth.frame.file &&
                    location.function == growth.frame.function) {
                    finding.title += fmt::format("; {} allocated there {}", format_bytes(growth.live_bytes),
                                                 growth.never_freed_bytes > growth.live_bytes / 2 ? "were never freed"
                                                                                                  : "were freed only at the end");
                    finding.evidence["kept_bytes"] = growth.live_bytes;
                    finding.advice.push_back({"Free what is no longer needed",
                        fmt::format("the {} allocated there grew as long as the program ran: each new page takes a page fault, which "
                                    "memory that was freed and is used again does not; what is needed to the end must stay", format_bytes(growth.live_bytes)), "code",
                        ""});
                    return;
                }
    }

    static void add_advice(const DiagnosisInput& input, const HeapProfile& profile, const std::string& module,
                           Finding& finding) {
        if (profile.kernel_hits * 4 > profile.hits)
            add_growth(input, finding);
        finding.advice.push_back({"Allocate less often",
            "keep the memory of the lines above from one iteration to the next: call reserve(), reuse a container, use a "
            "buffer or an arena for many small objects, or store values instead of pointers", "code", ""});
        if (is_glibc(module) && !input.run.command.empty())
            finding.advice.push_back({"Try another allocator",
                "this needs no rebuild; which is fastest, if any, differs from program to program: this runs those that are "
                "installed in turns with the program as it is", "launch", try_allocators_line(input.run)});
        if (is_glibc(module) && profile.kernel_hits * 4 > profile.hits && !input.run.command.empty() &&
            repeated_fault_share(input.run) >= kLeastRepeated)
            finding.advice.push_back({"Let the allocator keep its memory",
                "much of this time is in the kernel, and pages that were given back are requested again; larger thresholds "
                "prevent that",
                "launch",
                "GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296 "
                "plumb run -- " + shell_line(input.run.command)});
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_heap_bound() { return std::make_unique<HeapBound>(); }

} // namespace plumb
