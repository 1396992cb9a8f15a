// Which programs were busy when the machine was slow. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace plumb::probe {

struct Look { // one short probe beside a load
    double begin_s = 0; // since 1970
    // By kind: "compute", "cache", "memory latency", "memory read": CPU time of an operation; "wait for a CPU": wall time by
    // CPU time. More is slower.
    std::map<std::string, double> slowness;
    std::map<std::string, double> programs, groups; // CPUs that each kept busy meanwhile, by name: programs, and control groups
};

struct Suspect {
    enum class Verdict : unsigned char { slows, cannot_tell };
    std::string name;
    bool is_group = false;
    std::string kind;      // of slowness, with which its CPU time goes together most
    double correlation = 0; // of ranks
    double chance = 1;     // that so high a correlation is chance, for one comparison
    double cpus = 0;       // that it kept busy, median of the looks with the upper half of its CPU time
    double slowdown = 1;   // median slowness of those looks against that of the others
    Verdict verdict = Verdict::cannot_tell;
};

struct Suspects {
    size_t looks = 0, comparisons = 0;
    double needed_chance = 0;        // at most, to count
    std::vector<Suspect> suspects;   // those of whom it is certain first, then by chance
};

// Programs and groups that kept kLeastCpus busy in some look, each with each kind of slowness. By chance alone, one series of
// looks of twenty at most has a suspect of whom it is said that it slows the others (Bonferroni).
inline constexpr double kLeastCpus = 0.02;
Suspects slowing_programs(const std::vector<Look>& looks);

} // namespace plumb::probe
