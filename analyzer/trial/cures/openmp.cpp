// How many threads an OpenMP runtime starts, how they wait and where they run.
#include "trial/cures/families.h"

#include <fmt/format.h>

namespace plumb::trial {

namespace {

Cure setting(const Facts& facts, const char* id, const std::string& what, const char* family, const char* name,
             const std::string& value, std::vector<std::string> answers) {
    Cure cure{.id = id, .what = what, .family = family, .change = {}};
    cure.change.settings = {{name, value}};
    cure.answers = std::move(answers);
    const auto set = facts.environment.find(name);
    if (!facts.has_openmp)
        cure.why_not = "the program does not use OpenMP";
    else if (set != facts.environment.end() && set->second == value)
        cure.why_not = fmt::format("{}={} is set already", name, value);
    return cure;
}

} // namespace

std::vector<Cure> openmp_cures(const Facts& facts) {
    const size_t share = facts.ranks > 1 ? std::max<size_t>(1, facts.cpus / facts.ranks) : facts.cpus; // of one rank
    std::vector<Cure> cures;
    cures.push_back(setting(facts, "omp-all-cpus", fmt::format("one OpenMP thread for each CPU: {}", share), "openmp-threads",
                            "OMP_NUM_THREADS", std::to_string(share), {"OMP_NUM_THREADS"}));
    if (cures.back().why_not.empty() && facts.threads == share)
        cures.back().why_not = "it has that many threads already";
    cures.push_back(setting(facts, "omp-half", fmt::format("half as many OpenMP threads: {}", std::max<size_t>(1, share / 2)),
                            "openmp-threads", "OMP_NUM_THREADS", std::to_string(std::max<size_t>(1, share / 2)),
                            {"OMP_NUM_THREADS"}));
    if (cures.back().why_not.empty() && share < 2)
        cures.back().why_not = "one thread cannot be halved";
    cures.push_back(setting(facts, "omp-passive", "let waiting OpenMP threads sleep", "openmp-wait", "OMP_WAIT_POLICY",
                            "passive", {"OMP_WAIT_POLICY"}));
    if (facts.spinning_fraction >= kSpeaksFor)
        cures.back().why_tried = fmt::format("{:.0f} % of the time is spinning", 100 * facts.spinning_fraction);
    cures.push_back(setting(facts, "omp-active", "let waiting OpenMP threads spin", "openmp-wait", "OMP_WAIT_POLICY", "active",
                            {"OMP_WAIT_POLICY"}));
    cures.push_back(setting(facts, "omp-spread", "bind OpenMP threads, spread over the CPUs", "placement", "OMP_PROC_BIND",
                            "spread", {"OMP_PROC_BIND=spread"}));
    cures.push_back(setting(facts, "omp-close", "bind OpenMP threads side by side", "placement", "OMP_PROC_BIND", "close",
                            {"OMP_PROC_BIND=close"}));
    return cures;
}

} // namespace plumb::trial
