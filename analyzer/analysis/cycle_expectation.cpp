#include "analysis/cycle_expectation.h"

#include "analysis/change_point.h"
#include "support/error.h"

#include <algorithm>
#include <fmt/format.h>

namespace plumb {

namespace {

std::optional<CycleExpectation::Change> change_of(const model::MpiCycles& cycles, double expected_s) {
    std::vector<double> ratios;
    for (const model::MpiCycles::Point& point : cycles.series)
        ratios.push_back(point.mean_s / expected_s);
    const std::optional<Change> change = find_change(ratios);
    if (!change)
        return {};
    const model::MpiCycles::Point& first = cycles.series[change->at];
    return CycleExpectation::Change{first.first, first.begin_s, change->before, change->after, change->is_gradual};
}

} // namespace

CycleExpectation expectation_of(const CycleModel& model, const model::MpiJob& job) {
    CycleExpectation expectation;
    if (job.cycles.count == 0) {
        expectation.why_not = job.epoch_stride > 1
            ? fmt::format("its cycles are not known: only one in {} of its collectives was kept", job.epoch_stride)
            : "it has no cycles: no collective in which all wait for one another came twice from the same call site";
        return expectation;
    }
    try {
        expectation.expected_s = model.expected_s(static_cast<uint64_t>(std::max(1, job.size)));
    } catch (const Error& error) {
        expectation.why_not = error.what();
        return expectation;
    }
    expectation.ratio = job.cycles.mean_s / expectation.expected_s;
    expectation.change = change_of(job.cycles, expectation.expected_s);
    return expectation;
}

void compare_with_model(const CycleModel& model, Report& report) {
    if (report.mpi.empty())
        throw Error(fmt::format("{} cannot be compared: no MPI job was recorded in {}", model.path(), report.run->directory));
    for (MpiSummary& summary : report.mpi)
        summary.expectation = expectation_of(model, *summary.job);
}

} // namespace plumb
