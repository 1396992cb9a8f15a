#include "simulate/job.h"

#include "simulate/random_numbers.h"
#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace plumb::simulate {

namespace {

constexpr double kMostWork_s = 1e6;

} // namespace

double Job::largest_factor() const {
    return work_factor.empty() ? 1 : static_cast<double>(*std::ranges::max_element(work_factor));
}

double collective_cost_s(const Job& job) {
    if (job.collective_s >= 0)
        return job.collective_s;
    const auto whole = static_cast<double>(std::bit_width(job.ranks) - 1);
    const bool is_power = std::has_single_bit(job.ranks);
    switch (job.collective) {
    case Collective::barrier:
        return (is_power ? whole : whole + 1) * job.per_hop_s;
    case Collective::allreduce:
        return (is_power ? whole : whole + 2) * job.per_hop_s;
    default:
        return job.ranks > 1 ? job.per_hop_s : 0;
    }
}

void check_job(const Job& job) {
    if (job.ranks == 0)
        throw UsageError("a job of 0 ranks cannot be simulated: 1 rank is the least");
    if (job.ranks > Job::kMostRanks)
        throw UsageError(fmt::format("a job of {} ranks cannot be simulated: {} are the most", format_count(job.ranks),
                                     format_count(Job::kMostRanks)));
    if (job.ranks_per_node == 0)
        throw UsageError("0 ranks on a node cannot be simulated: 1 is the least");
    if (job.ranks_per_node > job.cpus_per_node)
        throw UsageError(fmt::format("{} on a node with {}: each rank needs a CPU of its own",
                                     counted(job.ranks_per_node, "rank", "ranks"), counted(job.cpus_per_node, "CPU", "CPUs")));
    if (job.cycles == 0)
        throw UsageError("0 cycles cannot be simulated: 1 is the least");
    if (job.cycle_work_s.empty())
        throw UsageError("the work of a cycle is missing");
    for (const double work_s : job.cycle_work_s)
        if (!(work_s >= 0 && work_s <= kMostWork_s))
            throw UsageError(fmt::format("a cycle of {} s of work cannot be simulated: 0 s to {} s can", work_s, kMostWork_s));
    if (!job.work_factor.empty() && job.work_factor.size() != job.ranks)
        throw Error(fmt::format("{} factors of work for {} ranks", job.work_factor.size(), job.ranks));
    if (!job.work_factor.empty() && job.pattern)
        throw Error("the work of ranks is given twice: by factors, and as it was recorded");
}

std::vector<float> spread_factors(uint32_t ranks, double imbalance, uint64_t seed) {
    if (imbalance <= 0)
        return {};
    std::vector<float> factors(ranks);
    for (uint32_t rank = 0; rank < ranks; rank++)
        factors[rank] = static_cast<float>(1 + imbalance * (2 * fraction_of(key_of(seed, rank)) - 1));
    return factors;
}

} // namespace plumb::simulate
