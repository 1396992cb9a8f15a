#include "commands/inside_plan.h"

#include "commands/run_to_place.h"
#include "network/machine/host_inside.h"
#include "platform/topology.h"
#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <map>

namespace plumb {

namespace {

using network::CacheGroup;

constexpr double kMoved = 0.10; // of its time a rank was elsewhere than at the cache that it is counted with

struct InsideOfHost {
    platform::Topology topology;
    std::map<int, int> cache_numbers; // by CpuPlace::l3: from 0

    CacheGroup group_of(const std::string& host, const platform::CpuPlace& place) const {
        return {host, place.package, place.node, place.l3 < 0 ? -1 : cache_numbers.at(place.l3)};
    }
};

InsideOfHost inside_of(platform::Topology topology) {
    InsideOfHost inside{std::move(topology), {}};
    for (const platform::CpuPlace& place : inside.topology.cpus)
        if (place.l3 >= 0)
            inside.cache_numbers.try_emplace(place.l3, static_cast<int>(inside.cache_numbers.size()));
    return inside;
}

// The first hardware thread of each core, in hwloc's order.
std::vector<const platform::CpuPlace*> cores_of(const platform::Topology& topology) {
    std::vector<const platform::CpuPlace*> cores;
    for (const platform::CpuPlace& place : topology.cpus)
        if (place.sibling == 0 && place.core >= 0)
            cores.push_back(&place);
    return cores;
}

platform::Topology described(const std::string& description) {
    std::error_code error;
    if (std::filesystem::exists(description, error) || description.find(':') == std::string::npos)
        return platform::topology_from_file(description);
    return platform::topology_from_synthetic(description);
}

std::map<std::string, InsideOfHost> insides_of(const PlacedJob& run, const std::string& description) {
    std::map<std::string, InsideOfHost> insides;
    for (const std::string& host : run.traffic.host_of) {
        if (insides.contains(host))
            continue;
        const auto recorded = run.topologies.find(host);
        if (description.empty() && recorded == run.topologies.end())
            throw Error(fmt::format(
                "what {} is like inside was not recorded; --topology FILE says it: hwloc's XML, made there by lstopo --of xml",
                host));
        insides.emplace(host,
                        inside_of(description.empty() ? platform::topology_from_xml(recorded->second) : described(description)));
    }
    return insides;
}

// The CPU of the cache in which the rank spent most of its time, and the part of its time elsewhere. Null: not recorded.
struct Seat {
    const platform::CpuPlace* place = nullptr;
    double elsewhere = 0;
};

Seat seat_of(const std::map<int, double>& seconds_on_cpu, const platform::Topology& topology) {
    std::map<std::pair<int, int>, double> by_cache; // with the NUMA node: where no cache is known it stands for it
    double all_s = 0;
    const auto key = [](const platform::CpuPlace& place) { return std::pair{place.node, place.l3}; };
    for (const auto& [cpu, seconds] : seconds_on_cpu)
        if (const platform::CpuPlace* place = topology.find(cpu)) {
            by_cache[key(*place)] += seconds;
            all_s += seconds;
        }
    if (all_s <= 0)
        return {};
    const auto most = std::ranges::max_element(by_cache, {}, [](const auto& each) { return each.second; });
    Seat seat{nullptr, 1 - most->second / all_s};
    double most_s = -1;
    for (const auto& [cpu, seconds] : seconds_on_cpu)
        if (const platform::CpuPlace* place = topology.find(cpu); place && key(*place) == most->first && seconds > most_s) {
            most_s = seconds;
            seat.place = place;
        }
    return seat;
}

} // namespace

network::StudyPlan inside_plan(const std::string& run, const std::string& description) {
    PlacedJob placed = run_to_place(run);
    const std::map<std::string, InsideOfHost> insides = insides_of(placed, description);
    network::StudyPlan plan;
    std::map<CacheGroup, std::vector<int>> groups; // their cores
    for (const auto& [host, inside] : insides)
        for (const platform::CpuPlace* const place : cores_of(inside.topology))
            groups[inside.group_of(host, *place)].push_back(place->core);
    std::map<std::string, size_t> seated; // ranks of each host so far
    size_t unknown = 0, moved = 0;
    for (size_t rank = 0; rank < placed.traffic.host_of.size(); ++rank) {
        const std::string& host = placed.traffic.host_of[rank];
        const InsideOfHost& inside = insides.at(host);
        const std::vector<const platform::CpuPlace*> cores = cores_of(inside.topology);
        if (cores.empty())
            throw Error(fmt::format("the description of {} has no cores", host));
        const Seat seat = seat_of(placed.seconds_on_cpu[rank], inside.topology);
        const platform::CpuPlace& place = seat.place ? *seat.place : *cores[seated[host] % cores.size()];
        ++seated[host];
        unknown += seat.place == nullptr;
        moved += seat.elsewhere > kMoved;
        const CacheGroup group = inside.group_of(host, place);
        plan.nodes.push_back(network::name_of(group));
        plan.cores_of.push_back(groups[group]);
    }
    std::vector<CacheGroup> names;
    for (const auto& [group, cores] : groups)
        names.push_back(group);
    const bool knows_caches = std::ranges::none_of(names, [](const CacheGroup& group) { return group.cache < 0; });
    plan.topology.network = network::inside_of_hosts(std::move(names));
    plan.topology_name = description.empty() ? "what was recorded of the hosts" : description;
    if (unknown > 0)
        plan.topology.notes.push_back(
            fmt::format("on which CPUs {} ran is not known: they are taken to have the cores of their host in order",
                        counted(unknown, "rank", "ranks")));
    if (!knows_caches)
        plan.topology.notes.push_back("not of all cores it is known which cache they share: their NUMA node is taken for it");
    if (moved > 0)
        plan.topology.notes.push_back(
            fmt::format("{} moved: each is counted where it ran most, and the order is one of ranks that stay "
                        "there, as the rankfile binds them",
                        counted(moved, "rank", "ranks")));
    plan.job = std::move(placed.traffic);
    return plan;
}

} // namespace plumb
