#include "simulate/change.h"

#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>

namespace plumb::simulate {

namespace {

using model::NoiseClass;
using model::NoiseMachine;

constexpr uint32_t kMostEvery = 1u << 16; // nodes in a repeated group, when several sets are combined

std::set<std::string> groups_of(const NoiseMachine& machine) {
    std::set<std::string> groups;
    for (const NoiseClass& one : machine.classes)
        if (!one.group.empty())
            groups.insert(one.group);
    return groups;
}

bool has_class(const NoiseMachine& machine, const std::string& name) {
    return std::ranges::any_of(machine.classes, [&](const NoiseClass& one) { return one.name == name; });
}

[[noreturn]] void refuse_name(const std::string& text, const NoiseMachine& machine) {
    std::vector<std::string> names;
    for (const NoiseClass& one : machine.classes)
        names.push_back(one.name);
    throw UsageError(
        fmt::format("--without {}: there is no such class of noise. Classes: {}. Groups: {}. Nodes: node=K, node=K/N", text,
                    fmt::join(names, ", "), fmt::join(groups_of(machine), ", ")));
}

std::optional<uint32_t> whole_number(std::string_view text) {
    uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

Change parse_nodes(const std::string& text, std::string_view pattern) {
    const size_t slash = pattern.find('/');
    const bool is_single = slash == std::string_view::npos;
    const auto offset = whole_number(pattern.substr(0, slash));
    const auto every = is_single ? std::nullopt : whole_number(pattern.substr(slash + 1));
    if (!offset || (!is_single && (!every || *every < 2 || *every > kMostEvery)))
        throw UsageError(
            fmt::format("--without {}: node=K is needed, for node K alone, or node=K/N, for node K of each N nodes; K "
                        "and N are whole numbers, and N is 2 to {}",
                        text, kMostEvery));
    if (is_single)
        return {Change::Kind::without_node, {}, 0, *offset};
    if (*offset >= *every)
        throw UsageError(fmt::format("--without {}: nodes are counted from 0, so K must be below N: {} is not below {}", text,
                                     *offset, *every));
    return {Change::Kind::without_nodes, {}, *every, *offset};
}

// Nodes left out by either rule, as one rule of the least common period.
void leave_out(Job& job, const Change& change) {
    const uint64_t every = job.left_out_every ? std::lcm(uint64_t{job.left_out_every}, uint64_t{change.every}) : change.every;
    if (every > kMostEvery)
        throw UsageError(fmt::format("the sets of nodes that are left out repeat only after {} nodes: {} are the most",
                                     format_count(static_cast<double>(every)), format_count(kMostEvery)));
    std::vector<uint32_t> nodes;
    for (uint32_t node = 0; node < every; node++)
        if (node % change.every == change.offset ||
            (job.left_out_every && std::ranges::binary_search(job.left_out_of, node % job.left_out_every)))
            nodes.push_back(node);
    if (nodes.size() == every)
        throw UsageError("no node would be left for the job: all are left out");
    job.left_out_every = static_cast<uint32_t>(every);
    job.left_out_of = std::move(nodes);
}

void leave_out_one(Job& job, uint32_t node) {
    if (node >= job.nodes())
        throw UsageError(fmt::format("--without node={}: {}, so leaving out that node changes nothing", node,
                                     job.nodes() > 1 ? fmt::format("the job runs on nodes 0 to {}", job.nodes() - 1)
                                                     : "the job runs on node 0 alone"));
    const auto place = std::ranges::lower_bound(job.left_out_nodes, node);
    if (place == job.left_out_nodes.end() || *place != node)
        job.left_out_nodes.insert(place, node);
}

void spare_a_cpu(Job& job) {
    if (job.ranks_per_node < job.cpus_per_node)
        throw UsageError(fmt::format("--spare-cpu: {} on a node with {}: a CPU is spare already",
                                     counted(job.ranks_per_node, "rank runs", "ranks run"),
                                     counted(job.cpus_per_node, "CPU", "CPUs")));
    if (job.ranks_per_node < 2)
        throw UsageError("--spare-cpu: a node has one rank, so none would be left");
    const uint32_t nodes = job.nodes();
    const double before = job.ranks;
    job.ranks_per_node--;
    job.ranks = nodes * job.ranks_per_node;
    for (double& work_s : job.cycle_work_s)
        work_s *= before / job.ranks;
    if (!job.work_factor.empty())
        job.work_factor.resize(job.ranks);
}

} // namespace

std::string Change::label() const {
    switch (kind) {
    case Kind::without_class:
        return "without " + name;
    case Kind::without_group:
        return fmt::format("without all of {}", name);
    case Kind::without_nodes:
        return fmt::format("not on node {} of {}", offset, every);
    case Kind::without_node:
        return fmt::format("not on node {}", offset);
    case Kind::spare_cpu:
        return "one CPU a node spare";
    case Kind::coschedule:
        return "noise at the same moment everywhere";
    }
    return {};
}

Change parse_without(const std::string& text, const NoiseMachine& machine) {
    if (has_class(machine, text))
        return {Change::Kind::without_class, text, 0, 0};
    const size_t equals = text.find('=');
    const std::string kind = equals == std::string::npos ? "" : text.substr(0, equals), name = text.substr(equals + 1);
    if (kind == "node")
        return parse_nodes(text, name);
    if ((kind == "group" || kind == "daemon") && groups_of(machine).contains(name))
        return {Change::Kind::without_group, name, 0, 0};
    refuse_name(text, machine);
}

std::vector<Change> all_removals(const NoiseMachine& machine) {
    std::vector<Change> changes;
    std::map<std::string, size_t> sizes;
    for (const NoiseClass& one : machine.classes) {
        changes.push_back({Change::Kind::without_class, one.name, 0, 0});
        sizes[one.group]++;
    }
    for (const std::string& group : groups_of(machine))
        if (sizes[group] > 1)
            changes.push_back({Change::Kind::without_group, group, 0, 0});
    std::set<std::pair<uint32_t, uint32_t>> nodes;
    for (const NoiseClass& one : machine.classes)
        if (one.nodes.every > 1 && one.nodes.every <= kMostEvery && one.nodes.offsets.size() < one.nodes.every)
            for (const uint32_t offset : one.nodes.offsets)
                nodes.insert({one.nodes.every, offset});
    for (const auto& node : nodes)
        changes.push_back({Change::Kind::without_nodes, {}, node.first, node.second});
    return changes;
}

Setting changed(Setting setting, const Change& change) {
    auto& classes = setting.machine.classes;
    switch (change.kind) {
    case Change::Kind::without_class:
        std::erase_if(classes, [&](const NoiseClass& one) { return one.name == change.name; });
        break;
    case Change::Kind::without_group:
        std::erase_if(classes, [&](const NoiseClass& one) { return one.group == change.name; });
        break;
    case Change::Kind::without_nodes:
        leave_out(setting.job, change);
        break;
    case Change::Kind::without_node:
        leave_out_one(setting.job, change.offset);
        break;
    case Change::Kind::spare_cpu:
        spare_a_cpu(setting.job);
        break;
    case Change::Kind::coschedule:
        for (NoiseClass& one : classes)
            one.phase = NoiseClass::Phase::together;
        break;
    }
    return setting;
}

Setting changed(Setting setting, const std::vector<Change>& changes) {
    for (const Change& change : changes)
        setting = changed(std::move(setting), change);
    return setting;
}

Job scaled(Job job, uint32_t factor) {
    const uint64_t ranks = uint64_t{job.ranks} * factor;
    if (factor == 0 || ranks > Job::kMostRanks)
        throw UsageError(fmt::format("--scale {}x: {} would be {}; {} are the most that can be simulated", factor,
                                     counted(job.ranks, "rank", "ranks"), format_count(static_cast<double>(ranks)),
                                     format_count(Job::kMostRanks)));
    job.ranks = static_cast<uint32_t>(ranks);
    job.follows_all = job.follows_all && factor == 1;
    return job;
}

} // namespace plumb::simulate
