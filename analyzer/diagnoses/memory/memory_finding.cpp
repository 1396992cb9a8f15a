#include "diagnoses/memory/memory_finding.h"

#include "analyses/analyses.h"
#include "analyses/time/run_totals.h"
#include "diagnoses/common/confidence.h"
#include "diagnoses/common/finding_limits.h"
#include "diagnoses/common/task_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace plumb {

namespace {

constexpr double kLeastCost = 0.01;       // of the run
constexpr double kRemoteMatters = 0.1;    // of an object's accesses
constexpr double kWithoutTouch = 0.8;     // trust in a cause when nobody saw who touched the memory first
constexpr size_t kMostRemoteLines = 8;

std::vector<std::string> rows_of(const NodeMatrix& matrix, double seconds) {
    std::vector<std::string> rows;
    for (const auto& [nodes, flow] : matrix)
        rows.push_back(fmt::format("from node {} to node {}: {:.1f} %", nodes.first, nodes.second,
                                   seconds > 0 ? 100 * flow.seconds / seconds : 0));
    return rows;
}

void add_evidence(const DiagnosisInput& input, const MemoryCase& one, Finding& finding) {
    auto& evidence = finding.evidence;
    const auto share = [](uint64_t part, uint64_t whole) {
        return whole ? static_cast<double>(part) / static_cast<double>(whole) : 0;
    };
    const MemoryObject& heaviest = *one.objects.front();
    evidence["remote_fraction"] = share(one.remote_samples, one.samples);
    evidence["address_sample_count"] = static_cast<int64_t>(one.samples);
    evidence["remote_sample_count"] = static_cast<int64_t>(one.remote_samples);
    evidence["store_fraction"] = share(one.stores, one.samples);
    evidence["time_between_nodes"] = rows_of(one.matrix, one.seconds);
    evidence["memory_node"] = static_cast<int64_t>(one.verdict.home);
    evidence["memory_node_fraction"] = one.verdict.home_share;
    evidence["own_parts_fraction"] = one.verdict.partition;
    size_t threads = 0;
    for (const MemoryObject* object : one.objects)
        threads += object->users.size();
    evidence["thread_count"] = static_cast<int64_t>(threads);
    const model::Process& process = input.run.processes[heaviest.process];
    double ratio = 0;
    for (const auto& [nodes, flow] : one.matrix)
        if (const model::Host* host = host_of(input.run, process))
            ratio = std::max(ratio, distance_ratio(*host, nodes.first, nodes.second));
    if (ratio > 0)
        evidence["distance_ratio"] = ratio;
    if (!one.verdict.touch_known)
        return;
    evidence["first_touch_fraction"] = one.verdict.touch_share;
    evidence["first_touched_by"] = task_name(input.run, {heaviest.process, one.verdict.toucher, false, 0, 0});
    if (const auto place = touched_at(input, heaviest))
        evidence["first_touched_at"] = place_name(*place);
}

} // namespace

std::string megabytes(uint64_t bytes) {
    return fmt::format("{} MiB", (bytes + (1 << 19)) >> 20);
}

std::optional<Location> touched_at(const DiagnosisInput& input, const MemoryObject& object) {
    LineShares lines;
    for (const model::FirstTouch* touch : object.touches)
        lines.add(touch->path ? input.paths.user_frame(object.process, touch->path)
                              : input.paths.user_frame_at(object.process, touch->instruction, 0),
                  static_cast<double>(touch->faults));
    const std::vector<Location> places = lines.heaviest(1);
    return places.empty() ? std::nullopt : std::optional(places.front());
}

const std::vector<MemoryCase>& memory_cases(const DiagnosisInput& input, MemoryCause cause) {
    static const std::vector<MemoryCase> none;
    const auto found = input.analyses.memory_cases.find(cause);
    return found == input.analyses.memory_cases.end() ? none : found->second;
}

std::string remote_user_nodes(const MemoryCase& one) {
    std::set<int> nodes;
    for (const auto& [pair, flow] : one.matrix)
        if (pair.first != pair.second)
            nodes.insert(pair.first);
    std::string text = nodes.size() == 1 ? "node " : "nodes ";
    size_t written = 0;
    for (const int node : nodes) {
        text += (written == 0 ? "" : written + 1 == nodes.size() ? " and " : ", ") + std::to_string(node);
        ++written;
    }
    return text;
}

std::optional<Finding> memory_finding(const DiagnosisInput& input, const MemoryCase& one, const char* id, bool bound) {
    const RunTotals totals = totals_of(input.run);
    if (totals.wall_s <= 0 || totals.sampled_s <= 0)
        return std::nullopt;
    Finding finding;
    finding.id = id;
    finding.confidence = confidence_above(one.remote_samples, one.samples, kRemoteMatters) *
                         (one.verdict.touch_known ? 0.95 : kWithoutTouch);
    finding.cost.seconds = totals.wall_of_share((bound ? one.remote_s : one.excess_s) / totals.sampled_s);
    finding.cost.fraction = std::min(1.0, finding.cost.seconds / totals.wall_s);
    finding.cost.how = bound ? "bound" : "estimated";
    if (finding.cost.fraction < kLeastCost || finding.confidence < kLeastConfidence)
        return std::nullopt;
    finding.gain = {finding.cost.fraction,
                    bound ? "upper bound: the remote accesses would take no time at all"
                          : "estimated for remote accesses as fast as local ones, by the node distances of the firmware (1.5 "
                            "if it has none)",
                    std::nullopt, bound};
    const MemoryObject& heaviest = *one.objects.front();
    finding.where = heaviest.remote_lines.heaviest(kMostRemoteLines);
    const NamedMemory& memory = heaviest.memory;
    finding.subject = memory.subject();
    if (memory.bytes > 0)
        finding.subject.details["bytes"] = static_cast<int64_t>(memory.bytes);
    add_evidence(input, one, finding);
    return finding;
}

} // namespace plumb
