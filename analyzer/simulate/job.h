// A bulk-synchronous job: every rank computes, then all take part in a collective, again and again. Plain data: made from
// options, and as well from what was recorded of a run.
#pragma once

#include "simulate/work_pattern.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace plumb::simulate {

enum class Collective {
    barrier,   // all wait for the last: dissemination
    allreduce, // the same, by recursive doubling
    halo1,
    halo2,
    halo3 // ranks on a periodic grid of so many dimensions; each waits for its two neighbours in each of them
};

constexpr bool is_halo(Collective collective) {
    return collective >= Collective::halo1;
}

struct Job {
    static constexpr uint32_t kMostRanks = 1u << 24;

    uint32_t ranks = 0;
    uint32_t ranks_per_node = 0; // rank r is on node r / ranks_per_node of the job, on CPU r % ranks_per_node of it
    uint32_t cpus_per_node = 0;
    std::vector<uint32_t> left_out_of; // with left_out_every: the job runs on no node n with n % every among these; ascending
    uint32_t left_out_every = 0;       // 0: on all nodes from 0 on
    std::vector<uint32_t> left_out_nodes; // nor on these single ones; ascending

    std::vector<double>
        cycle_work_s;               // what each rank computes in a cycle without noise, for one cycle after the other, repeated
    std::vector<float> work_factor; // of each rank, on the above; empty: 1
    std::shared_ptr<const WorkPattern> pattern; // on both; null: none. Not together with work_factor
    uint32_t cycles = 0;
    bool follows_all = false; // every rank in each cycle: it takes longer, and says how long ranks wait (Outcome::waited_s)

    Collective collective = Collective::barrier;
    double per_hop_s = 0;     // one message step, between two ranks
    double collective_s = -1; // measured, of one collective whose ranks come at the same time; below 0: from per_hop_s

    uint32_t nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
    uint32_t ranks_on(uint32_t node) const { return node + 1 < nodes() ? ranks_per_node : ranks - node * ranks_per_node; }
    double work_s(uint32_t rank, uint32_t cycle) const {
        const double work_s = cycle_work_s[cycle % cycle_work_s.size()];
        const double factor = work_factor.empty() ? 1 : static_cast<double>(work_factor[rank]);
        return work_s * (pattern ? factor * pattern->share(rank, cycle) : factor);
    }
    // What the rank with the most work has.
    double largest_work_s(uint32_t cycle) const {
        const double work_s = cycle_work_s[cycle % cycle_work_s.size()] * largest_factor();
        return pattern ? work_s * pattern->largest_share(ranks, cycle) : work_s;
    }
    bool ranks_are_alike() const { return work_factor.empty() && !pattern; }
    double largest_factor() const; // of work_factor
};

// From the arrival of the last rank until all go on. Dissemination takes ceil(log2 P) steps (Hensgen, Finkel, Manber: Two
// algorithms for barrier synchronization, 1988); recursive doubling floor(log2 P), and two more where P is no power of two
// (Thakur, Rabenseifner, Gropp: Optimization of collective communication operations in MPICH, 2005); a halo exchange one, since
// its messages go at the same time.
double collective_cost_s(const Job& job);

// Throws Error, with the value: no ranks, more of them on a node than it has CPUs, more than can be simulated, work that is
// negative or no number, no cycles, factors for another number of ranks.
void check_job(const Job& job);

// The factors of ranks whose slowest does `imbalance` more work than their mean: uniform around 1, drawn once for each rank.
std::vector<float> spread_factors(uint32_t ranks, double imbalance, uint64_t seed);

} // namespace plumb::simulate
