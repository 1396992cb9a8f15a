#include "placement/planner.h"

#include "placement/position_list.h"
#include "platform/cpu_list.h"
#include "support/error.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <tuple>

namespace plumb::placement {

namespace {

using platform::CpuPlace;
using platform::Topology;

// One allowed CPU with where it is; `sibling` counts among the allowed hardware threads of its core, so that a
// core of which only the second thread is allowed is still a whole core to us.
struct Seat {
    CpuPlace place;
    size_t order = 0; // in hwloc's logical order, so neighbours are close
};

std::vector<Seat> seats(const Topology& topology, const std::vector<int>& allowed) {
    std::vector<Seat> known, unknown;
    std::map<int, size_t> logical;
    for (size_t i = 0; i < topology.cpus.size(); ++i)
        logical.emplace(topology.cpus[i].cpu, i);
    for (int cpu : allowed) {
        const auto found = logical.find(cpu);
        if (found == logical.end()) {
            CpuPlace nowhere;
            nowhere.cpu = cpu;
            unknown.push_back({nowhere, topology.cpus.size() + unknown.size()});
        } else {
            known.push_back({topology.cpus[found->second], found->second});
        }
    }
    std::sort(known.begin(), known.end(), [](const Seat& a, const Seat& b) { return a.order < b.order; });
    std::map<int, int> taken_of_core;
    for (Seat& seat : known)
        seat.place.sibling = seat.place.core < 0 ? 0 : taken_of_core[seat.place.core]++;
    known.insert(known.end(), unknown.begin(), unknown.end());
    return known;
}

std::vector<int> numbers(const std::vector<Seat>& in) {
    std::vector<int> cpus;
    for (const Seat& seat : in)
        cpus.push_back(seat.place.cpu);
    return cpus;
}

std::vector<int> compact(std::vector<Seat> all) {
    // A neighbourhood is what shares package, node and outermost cache; where no cache is shared, the node.
    const auto neighbourhood = [](const Seat& seat) {
        return std::tuple(seat.place.package, seat.place.node, seat.place.l3);
    };
    std::map<std::tuple<int, int, int>, size_t> first; // neighbourhoods in the order of their first seat
    for (const Seat& seat : all)
        first.emplace(neighbourhood(seat), seat.order);
    std::stable_sort(all.begin(), all.end(), [&](const Seat& a, const Seat& b) {
        return std::tuple(first.at(neighbourhood(a)), a.place.sibling, a.order) <
               std::tuple(first.at(neighbourhood(b)), b.place.sibling, b.order);
    });
    return numbers(all);
}

using Level = int CpuPlace::*;
constexpr Level kLevels[] = {&CpuPlace::package, &CpuPlace::node, &CpuPlace::l3, &CpuPlace::core};

// Splits by the outermost level, orders each part by the levels below, then takes one of each part in turn.
std::vector<Seat> interleave(const std::vector<Seat>& all, size_t level) {
    if (level == std::size(kLevels) || all.size() < 2)
        return all;
    std::vector<int> ids;
    std::map<int, std::vector<Seat>> parts;
    for (const Seat& seat : all) {
        const int id = seat.place.*kLevels[level];
        if (parts[id].empty())
            ids.push_back(id);
        parts[id].push_back(seat);
    }
    for (auto& [id, part] : parts)
        part = interleave(part, level + 1);
    std::vector<Seat> turn_by_turn;
    for (size_t round = 0; turn_by_turn.size() < all.size(); ++round)
        for (int id : ids)
            if (round < parts[id].size())
                turn_by_turn.push_back(parts[id][round]);
    return turn_by_turn;
}

std::vector<int> scatter(const std::vector<Seat>& all) {
    // Hardware siblings share everything: no second thread of a core before every core has its first.
    std::map<int, std::vector<Seat>> by_sibling;
    for (const Seat& seat : all)
        by_sibling[seat.place.sibling].push_back(seat);
    std::vector<int> cpus;
    for (const auto& [sibling, part] : by_sibling)
        for (int cpu : numbers(interleave(part, 0)))
            cpus.push_back(cpu);
    return cpus;
}

Plan spread(const std::vector<int>& allowed, int step) {
    if (step < 1)
        throw UsageError(fmt::format("--spread {}: the distance must be at least 1", step));
    Plan plan;
    const size_t distance = static_cast<size_t>(step);
    for (size_t offset = 0; offset < std::min(distance, allowed.size()); ++offset) {
        for (size_t i = offset; i < allowed.size(); i += distance)
            plan.cpus.push_back(allowed[i]);
        if (offset == 0)
            plan.first_pass = plan.cpus.size();
    }
    return plan;
}

std::vector<int> listed(const std::vector<int>& allowed, const Wish& wish) {
    if (wish.positions.empty())
        throw UsageError("the list of CPUs to pin to is empty: give at least one, as in --list 0,2,4-7");
    std::vector<int> cpus;
    for (int position : wish.positions) {
        if (wish.absolute) {
            if (!std::binary_search(allowed.begin(), allowed.end(), position))
                throw UsageError(fmt::format("CPU {} is not among the CPUs this job may use ({}): choose from these",
                                        position, platform::format_cpu_list(allowed)));
            cpus.push_back(position);
        } else {
            if (position < 0 || static_cast<size_t>(position) >= allowed.size())
                throw UsageError(fmt::format("there is no relative CPU {}: this job may use {} CPU(s) ({}), relative "
                                        "numbers 0 to {}", position, allowed.size(),
                                        platform::format_cpu_list(allowed), allowed.size() - 1));
            cpus.push_back(allowed[static_cast<size_t>(position)]);
        }
    }
    return cpus;
}

int parse_step(const std::string& text) {
    const std::vector<int> step = parse_position_list(text);
    if (step.size() != 1 || step.front() < 1)
        throw UsageError(fmt::format("'spread:{}': write spread:N with N at least 1", text));
    return step.front();
}

} // namespace

Plan plan_cpus(const Topology& topology, const std::vector<int>& allowed, const Wish& wish) {
    if (allowed.empty())
        throw Error("cannot pin: the CPUs that this job may use are not known (sched_getaffinity failed)");
    Plan plan;
    switch (wish.strategy) {
    case Strategy::compact:
        plan.cpus = compact(seats(topology, allowed));
        break;
    case Strategy::scatter:
        plan.cpus = scatter(seats(topology, allowed));
        break;
    case Strategy::spread:
        return spread(allowed, wish.step);
    case Strategy::list:
        plan.cpus = listed(allowed, wish);
        break;
    }
    plan.first_pass = plan.cpus.size();
    return plan;
}

Wish parse_wish(const std::string& text) {
    Wish wish;
    if (text == "compact")
        return wish;
    if (text == "scatter") {
        wish.strategy = Strategy::scatter;
        return wish;
    }
    if (text.rfind("spread:", 0) == 0) {
        wish.strategy = Strategy::spread;
        wish.step = parse_step(text.substr(7));
        return wish;
    }
    const bool prefixed = text.rfind("list:", 0) == 0;
    if (!prefixed && (text.empty() || text.front() < '0' || text.front() > '9'))
        throw UsageError(fmt::format("'{}' is not a placement: write compact, scatter, spread:N or list:0,2,4-7", text));
    wish.strategy = Strategy::list;
    wish.positions = parse_position_list(prefixed ? text.substr(5) : text);
    return wish;
}

std::string describe_wish(const Wish& wish) {
    switch (wish.strategy) {
    case Strategy::compact:
        return "compact";
    case Strategy::scatter:
        return "scatter";
    case Strategy::spread:
        return fmt::format("spread:{}", wish.step);
    case Strategy::list:
        break;
    }
    return fmt::format("list:{}{}", platform::format_cpu_list(wish.positions), wish.absolute ? " (absolute)" : "");
}

} // namespace plumb::placement
