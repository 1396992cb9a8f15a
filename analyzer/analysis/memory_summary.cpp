#include "analysis/memory_summary.h"

#include "analyses/lines/line_shares.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace plumb {

namespace {

constexpr uint64_t kParts = 64;
constexpr double kMost = 0.6; // of a part: what one node must have for the part to be its

NodeShares shares_of(const std::map<int, double>& by_node) {
    double all = 0;
    for (const auto& [node, weight] : by_node)
        all += weight;
    NodeShares shares;
    for (const auto& [node, weight] : by_node)
        if (weight > 0)
            shares.emplace_back(node, weight / all);
    std::ranges::stable_sort(shares, std::greater<>(), &std::pair<int, double>::second);
    return shares;
}

// The stretch of addresses that its parts divide: of one block or variable, all of it.
std::pair<uint64_t, uint64_t> stretch_of(const MemoryObject& object) {
    uint64_t low = UINT64_MAX, high = 0;
    for (const model::MemoryTraffic* traffic : object.traffic) {
        low = std::min(low, traffic->lowest_address);
        high = std::max(high, traffic->highest_address);
    }
    const NamedMemory& memory = object.memory;
    if (memory.bytes > 0 && low >= memory.start && high - memory.start < memory.bytes)
        return {memory.start, memory.start + memory.bytes - 1};
    return {low, high};
}

// What one record tells is spread evenly over the stretch of addresses that it covers.
std::vector<MemoryPart> parts_of(const MemoryObject& object) {
    const auto [low, high] = stretch_of(object);
    if (low > high)
        return {};
    const uint64_t part_bytes = (high - low) / kParts + 1;
    struct Weights {
        std::map<int, double> pages, faults, cpus;
    };
    std::vector<Weights> weights(kParts);
    const auto spread = [&, low = low, high = high](uint64_t from, uint64_t to, double weight, int node, auto member) {
        if (node < 0 || to < low || from > high)
            return;
        const uint64_t first = (std::max(from, low) - low) / part_bytes, last = (std::min(to, high) - low) / part_bytes;
        for (uint64_t part = first; part <= last; ++part)
            (weights[part].*member)[node] += weight / static_cast<double>(last - first + 1);
    };
    for (const model::MemoryTraffic* traffic : object.traffic) {
        const double weight = static_cast<double>(traffic->time_ns);
        spread(traffic->lowest_address, traffic->highest_address, weight, traffic->page_node, &Weights::pages);
        spread(traffic->lowest_address, traffic->highest_address, weight, traffic->cpu_node, &Weights::cpus);
    }
    for (const model::FirstTouch* touch : object.touches)
        spread(touch->lowest_address, touch->highest_address, static_cast<double>(touch->faults), touch->page_node,
               &Weights::faults);
    std::vector<MemoryPart> parts;
    const auto most = [](const std::map<int, double>& by_node) {
        const NodeShares shares = shares_of(by_node);
        return shares.empty() ? kNoNode : shares[0].second < kMost ? kSeveralNodes : shares[0].first;
    };
    for (const Weights& part : weights)
        parts.push_back({most(part.pages.empty() ? part.faults : part.pages), most(part.cpus)});
    return parts;
}

struct Gathered {
    MemoryObjectRow row;
    std::map<int, double> held_by, used_from;
    std::set<size_t> processes;
};

void add(const MemoryObject& object, Gathered& gathered) {
    MemoryObjectRow& row = gathered.row;
    if (gathered.processes.empty()) { // they come by remote time
        row.name = object.memory.words();
        row.subject = object.memory.name;
        row.kind = object.memory.subject_kind();
        row.bytes = object.memory.bytes;
        const LineShares& lines = object.remote_s > 0 ? object.remote_lines : object.lines;
        if (const std::vector<Location> places = lines.heaviest(1); !places.empty())
            row.place = place_name(places.front());
        row.parts = parts_of(object);
    }
    gathered.processes.insert(object.process);
    row.samples += object.samples;
    row.seconds += object.seconds;
    row.remote_s += object.remote_s;
    for (const auto& [nodes, flow] : object.matrix) {
        gathered.used_from[nodes.first] += flow.seconds;
        gathered.held_by[nodes.second] += flow.seconds;
    }
}

std::vector<NodeRow> nodes_of(const model::Run& run) {
    std::vector<NodeRow> rows;
    for (const model::Host& host : run.hosts) {
        if (host.nodes.size() < 2)
            continue;
        std::map<int, NodeRow> by_node;
        for (const model::NodeMemory& memory : host.memory) {
            NodeRow& row = by_node[memory.node];
            row.host = host.name;
            row.node = memory.node;
            row.total_bytes = std::max(row.total_bytes, memory.total_bytes);
            row.moments.push_back({static_cast<double>(memory.time_ns - std::min(memory.time_ns, run.begin_ns)) * 1e-9,
                                   memory.anonymous_bytes, memory.file_bytes, memory.free_bytes});
        }
        for (auto& [node, row] : by_node)
            if (row.total_bytes > 0)
                rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace

MemorySummary summarise_memory(const model::Run& run, const MemoryUse& use, size_t most_objects) {
    MemorySummary summary;
    summary.recorded = has_several_nodes(run);
    if (!summary.recorded)
        return summary;
    summary.traffic = node_traffic_of(run);
    summary.nodes = nodes_of(run);
    std::map<std::pair<NamedMemory::Kind, std::string>, Gathered> by_name;
    for (const MemoryObject& object : use.objects)
        add(object, by_name[{object.memory.kind, object.memory.name}]);
    for (auto& [key, gathered] : by_name) {
        gathered.row.processes = gathered.processes.size();
        gathered.row.held_by = shares_of(gathered.held_by);
        gathered.row.used_from = shares_of(gathered.used_from);
        summary.objects.push_back(std::move(gathered.row));
    }
    std::ranges::stable_sort(summary.objects, [](const MemoryObjectRow& left, const MemoryObjectRow& right) {
        return std::tie(left.remote_s, left.seconds) > std::tie(right.remote_s, right.seconds);
    });
    if (summary.objects.size() > most_objects) {
        summary.objects_left_out = summary.objects.size() - most_objects;
        summary.objects.resize(most_objects);
    }
    return summary;
}

} // namespace plumb
