#include "trial/cure.h"

#include "analyses/lines/launch_command.h"
#include "trial/cures/families.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace plumb::trial {

namespace {

constexpr const char* kPreload = "LD_PRELOAD";
constexpr const char* kTunables = "GLIBC_TUNABLES";

using Family = std::vector<Cure> (*)(const Facts&);
constexpr Family kFamilies[] = {placement_cures, memory_policy_cures, allocator_cures, malloc_setting_cures,
                                openmp_cures,    mpi_cures,           library_cures};

} // namespace

std::vector<Cure> all_cures(const Facts& facts) {
    std::vector<Cure> cures;
    for (const Family family : kFamilies)
        std::ranges::move(family(facts), std::back_inserter(cures));
    return cures;
}

bool exclude_each_other(const Cure& one, const Cure& other) {
    const auto takes_from = [](const Cure& taker, const Cure& needy) {
        return !needy.needs.empty() && taker.takes == needy.needs;
    };
    return one.family == other.family || takes_from(one, other) || takes_from(other, one);
}

Launch launch_with(const std::vector<Change>& changes, const std::map<std::string, std::string>& set,
                   const std::vector<std::string>& command) {
    Launch launch;
    std::map<std::string, std::string> settings;
    const auto current = [&](const char* name) {
        if (const auto made = settings.find(name); made != settings.end())
            return made->second;
        const auto found = set.find(name);
        return found == set.end() ? std::string() : found->second;
    };
    for (const Change& change : changes) {
        for (const auto& [name, value] : change.settings)
            settings[name] = value;
        if (const std::string others = current(kPreload); !change.preload.empty())
            settings[kPreload] = change.preload + (others.empty() ? "" : ":" + others);
        if (const std::string others = current(kTunables); !change.tunables.empty())
            settings[kTunables] = (others.empty() ? "" : others + ":") + change.tunables;
        std::ranges::copy(change.launcher, std::back_inserter(launch.words));
    }
    for (const auto& [name, value] : settings)
        launch.environment.push_back(fmt::format("{}={}", name, value));
    std::ranges::copy(command, std::back_inserter(launch.words));
    return launch;
}

std::string launch_line(const Launch& launch) {
    std::string line;
    for (const std::string& setting : launch.environment) {
        const size_t value = setting.find('=') + 1;
        line += setting.substr(0, value) + shell_line({setting.substr(value)}) + " ";
    }
    return line + shell_line(launch.words);
}

} // namespace plumb::trial
