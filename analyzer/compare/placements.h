// Where the jobs of compared runs lay in their network, and whether those whose messages pass more links took longer. In production a
// placement is drawn with each job: means and standard deviations are what others publish of such campaigns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plumb {

struct PlacedRun {
    std::string run;
    bool is_base = false;
    double wall_s = 0;
    uint32_t nodes = 0, pieces = 0;       // pieces: between which no neighbouring places belong to the job
    double links_between_nodes = 0;       // of the job, mean of all pairs
    std::optional<double> links_of_bytes; // that a byte of its messages passes, mean; none: no messages from rank to rank
};

struct PlacedSide {
    size_t runs = 0;
    double mean_s = 0;
    std::optional<double> deviation_s; // standard deviation of a sample; none: of a single run
    double mean_links = 0;
    uint32_t least_pieces = 0, most_pieces = 0;
};

struct Placements {
    std::vector<PlacedRun> runs;
    PlacedSide base, others;
    bool are_of_bytes = false; // links are those that bytes pass; else those between two nodes, as some run has no messages
    double correlation = 0;    // Spearman's, of time and links
    double chance = 1;         // that runs without any connection have it at least that high

    static constexpr size_t kLeastRuns = 6;         // fewer say nothing of what connects time and links
    static constexpr double kMostByChance = 0.01;
    bool are_enough() const { return runs.size() >= kLeastRuns; }
    bool links_are_connected() const { return are_enough() && chance <= kMostByChance; }
    double saved() const { return base.mean_s > 0 ? 1 - others.mean_s / base.mean_s : 0; } // by the others, of the base's mean
    double links_of(const PlacedRun& run) const { return are_of_bytes ? *run.links_of_bytes : run.links_between_nodes; }
};

// Of at least one run of each side.
Placements placements_of(std::vector<PlacedRun> runs);

} // namespace plumb
