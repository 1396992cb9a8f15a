// Which thread runs on which CPU, by plumb pin.
#include "trial/cures/families.h"

#include <fmt/format.h>

namespace plumb::trial {

namespace {

std::string why_no_pinning(const Facts& facts) {
    if (facts.cpus < 2)
        return "the command may use one CPU only";
    if (!facts.why_no_preload.empty())
        return "its threads cannot be pinned one by one: " + facts.why_no_preload;
    if (facts.threads < 2 && facts.ranks < 2 && facts.processes < 2)
        return "it is one thread: there is nothing to spread";
    return "";
}

Cure pinned(const Facts& facts, const char* id, const std::string& what, std::vector<std::string> options,
            std::vector<std::string> answers) {
    Cure cure{.id = id, .what = what, .family = "placement", .change = {}};
    cure.change.launcher = {"plumb", "pin", "-q"};
    cure.change.launcher.insert(cure.change.launcher.end(), options.begin(), options.end());
    cure.change.launcher.emplace_back("--");
    cure.answers = std::move(answers);
    cure.why_not = why_no_pinning(facts);
    return cure;
}

} // namespace

std::vector<Cure> placement_cures(const Facts& facts) {
    std::vector<Cure> cures;
    cures.push_back(pinned(facts, "pin-scatter", "pin threads, as far apart as possible", {"--scatter"}, {"--pin=scatter"}));
    cures.push_back(pinned(facts, "pin-compact", "pin threads side by side", {"--compact"}, {"--pin=compact"}));
    const size_t siblings = facts.cores > 0 ? facts.cpus / facts.cores : 1;
    cures.push_back(pinned(facts, "pin-cores", "pin threads to every CPU that begins a core",
                           {"--spread", std::to_string(siblings)}, {"--pin=spread"}));
    if (cures.back().why_not.empty() && siblings < 2)
        cures.back().why_not = "each core has one CPU here: the same as pin-scatter";
    cures.push_back(pinned(facts, "pin-bind", "pin threads, and their memory to the same NUMA node",
                           {"--scatter", "--bind-memory"}, {"--bind-memory"}));
    if (cures.back().why_not.empty() && facts.memory_nodes < 2)
        cures.back().why_not = "all memory is on one NUMA node";
    return cures;
}

} // namespace plumb::trial
