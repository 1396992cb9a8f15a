// Parallel regions so short that starting and joining their team takes a large part of them.
//
// What a region lasts beyond its longest thread is the team's start and join. One region for all of them would save it, but for
// the barriers that remain. Where all the work of the team together is less than the region lasts, one thread alone would be
// faster: that gain is certain.
#include "diagnoses/openmp/region_words.h"
#include "diagnoses/registry.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

constexpr double kLeastStartingShare = 0.01; // of the run
constexpr double kLeastOverhead = 0.10;      // of a region
constexpr double kLongest_s = 200e-6;        // of a region, on average: longer ones pay their start
constexpr double kBarrierShare = 0.5;        // of start and join: a barrier that remains is one of the two
constexpr size_t kMostRegions = 3;

struct Small {
    RegionPlace place;
    double wall_s = 0, overhead_s = 0, work_s = 0; // sums over regions; work: of all threads together
    double mean_s = 0;                             // of one region
    double with_cpu = 1;
    double alone_saves_s() const { return std::max(0.0, wall_s * with_cpu - work_s); }
};

class OmpSmallRegions : public Diagnosis {
  public:
    const char* id() const override { return "omp-small-regions"; }

    std::vector<Finding> diagnose(const DiagnosisInput& input) const override {
        const double run_s = static_cast<double>(input.run.wall_ns()) * 1e-9;
        std::vector<Small> order;
        for (const RegionPlace& place : regions_of(input.run)) {
            const model::OmpRegion& region = *place.region;
            const double scale = compared_scale(region);
            Small small{place};
            small.wall_s = wall_s_of(region, static_cast<double>(region.wall_ns));
            small.mean_s = static_cast<double>(region.wall_ns) * 1e-9 / static_cast<double>(region.ended);
            small.overhead_s = wall_s_of(region, static_cast<double>(region.compared_ns - std::min(region.compared_ns, region.longest_spans_ns))) * scale;
            small.with_cpu = share_with_cpu(input.run.processes[place.process]);
            small.overhead_s *= small.with_cpu;
            small.work_s = wall_s_of(region, static_cast<double>(region.mean_work_ns)) * team_size(region) * scale;
            if (scale > 0 && team_size(region) > 1 && run_s > 0 && small.mean_s <= kLongest_s &&
                small.overhead_s >= kLeastStartingShare * run_s && small.overhead_s >= kLeastOverhead * small.wall_s)
                order.push_back(small);
        }
        std::ranges::stable_sort(order, std::greater<>(), &Small::overhead_s);
        order.resize(std::min(order.size(), kMostRegions));
        std::vector<Finding> findings;
        for (const Small& small : order)
            findings.push_back(finding_of(input, small, run_s));
        return findings;
    }

  private:
    Finding finding_of(const DiagnosisInput& input, const Small& small, double run_s) const {
        const model::OmpRegion& region = *small.place.region;
        Finding finding;
        finding.id = id();
        finding.confidence = 0.9;
        describe_region(input.paths, small.place, finding);
        finding.title = fmt::format("A parallel region of {:.0f} us starts and joins its {} threads {} times",
                                    small.mean_s * 1e6, region.most_threads, region.ended);
        const double alone_s = small.alone_saves_s();
        finding.cost = {small.overhead_s, std::min(1.0, small.overhead_s / run_s), "measured"};
        finding.gain = {std::min(1.0, std::max(small.overhead_s, alone_s) / run_s),
                        alone_s > small.overhead_s ? "the run if one thread alone did this work"
                                                   : "the run without starting and joining the team",
                        std::min(1.0, std::max(alone_s, kBarrierShare * small.overhead_s) / run_s)};
        finding.evidence["mean_region_seconds"] = small.mean_s;
        finding.evidence["start_and_join_seconds"] = small.overhead_s;
        finding.evidence["start_and_join_fraction_of_regions"] = small.overhead_s / small.wall_s;
        finding.evidence["work_of_all_threads_seconds"] = small.work_s;
        if (alone_s > 0)
            finding.advice.push_back({"Run small regions on one thread",
                                      fmt::format("all threads together work {:.3g} s in regions that last {:.3g} s: one thread alone would be "
                                                  "faster; an if clause keeps the region for larger sizes",
                                                  small.work_s, small.wall_s),
                                      "code", "#pragma omp parallel for if(n > LIMIT)"});
        finding.advice.push_back({"Start the team once",
                                  "one parallel region around the loop that repeats this one, with `#pragma omp for` inside; or parallelise "
                                  "the outer loop",
                                  "code", ""});
        return finding;
    }
};

} // namespace

std::unique_ptr<Diagnosis> make_omp_small_regions() { return std::make_unique<OmpSmallRegions>(); }

} // namespace plumb
