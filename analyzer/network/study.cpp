#include "network/study.h"

#include "network/machine/one_switch.h"
#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

namespace plumb::network {

namespace {

constexpr size_t kMostLinks = 8, kMostPairs = 3, kMostMissing = 5;

// A list for ranks as it is; one of as many nodes as there are hosts in their place; any other whose number divides the ranks' gets
// them in blocks.
std::vector<std::string> given_to_ranks(const std::vector<std::string>& nodes, const std::vector<std::string>& host_of) {
    if (nodes.empty())
        return host_of;
    if (nodes.size() == host_of.size())
        return nodes;
    const std::vector<std::string> once = each_name_once(nodes), hosts = each_name_once(host_of);
    std::vector<std::string> given;
    if (once.size() == hosts.size()) {
        std::unordered_map<std::string, size_t> number;
        for (size_t i = 0; i < hosts.size(); ++i)
            number.emplace(hosts[i], i);
        for (const std::string& host : host_of)
            given.push_back(once[number.at(host)]);
        return given;
    }
    if (host_of.size() % once.size() != 0)
        throw Error(fmt::format("the list of nodes has {} and the job {} on {}: it must have one for each rank, one for each host, or a number "
                                "that divides that of the ranks", counted(once.size(), "node", "nodes"),
                                counted(host_of.size(), "rank", "ranks"), counted(hosts.size(), "host", "hosts")));
    for (size_t rank = 0; rank < host_of.size(); ++rank)
        given.push_back(once[rank / (host_of.size() / once.size())]);
    return given;
}

std::vector<NodeIndex> found_in(const Network& network, const std::vector<std::string>& names, const std::string& file) {
    std::vector<NodeIndex> nodes;
    std::vector<std::string> missing;
    for (const std::string& name : names)
        if (const auto node = network.node_named(name))
            nodes.push_back(*node);
        else
            missing.push_back(name);
    missing = each_name_once(missing);
    if (missing.empty())
        return nodes;
    std::string listed;
    for (size_t i = 0; i < std::min(missing.size(), kMostMissing); ++i)
        listed += (i ? ", " : "") + missing[i];
    throw Error(fmt::format("{} does not have {} of the job's nodes: {}{}. It has {} to {}", file, missing.size(), listed,
                            missing.size() > kMostMissing ? ", ..." : "", network.node_name(0), network.node_name(network.node_count() - 1)));
}

std::vector<NodeIndex> each_once(std::vector<NodeIndex> nodes) {
    std::ranges::sort(nodes);
    nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
    return nodes;
}

std::vector<NamedLink> named(const Network& network, std::vector<LoadedLink> links) {
    std::vector<NamedLink> result;
    for (LoadedLink& each : links)
        result.push_back({network.link(each.link), each.bytes, std::move(each.pairs)});
    return result;
}

double mean_of_used(const std::vector<double>& bytes) {
    double sum = 0;
    size_t used = 0;
    for (const double each : bytes)
        if (each > 0) {
            sum += each;
            ++used;
        }
    return used ? sum / static_cast<double>(used) : 0;
}

} // namespace

std::vector<std::string> Study::new_host_of() const {
    std::vector<std::string> hosts;
    for (const uint32_t slot : order.slot_of)
        hosts.push_back(is_inside() ? plan.job->host_of[slot] : host_of[slot]);
    return hosts;
}

std::vector<std::vector<int>> Study::new_cores_of() const {
    std::vector<std::vector<int>> cores;
    for (const uint32_t slot : order.slot_of)
        cores.push_back(plan.cores_of[slot]);
    return cores;
}

std::vector<uint32_t> Study::new_cpus_of() const {
    std::vector<uint32_t> cpus;
    for (const uint32_t slot : order.slot_of)
        cpus.push_back(plan.nodes.empty() && slot < plan.job->cpus_of.size() ? plan.job->cpus_of[slot] : 0);
    return cpus;
}

Study run_study(StudyPlan plan) {
    Study study;
    study.plan = std::move(plan);
    const std::optional<RecordedTraffic>& job = study.plan.job;
    std::vector<std::string> names = job ? given_to_ranks(study.plan.nodes, job->host_of) : study.plan.nodes;
    study.knows_wiring = study.plan.topology.network != nullptr;
    study.network = study.knows_wiring ? std::move(study.plan.topology.network) : one_switch(each_name_once(names));
    const Network& network = *study.network;
    const std::vector<NodeIndex> node_of = found_in(network, names, study.plan.topology_name);
    study.nodes = each_once(node_of);
    study.allocation = allocation_of(network, study.nodes);
    if (!job)
        return study;
    study.host_of = std::move(names);
    study.node_of = node_of;
    if (!study.plan.wants_order) {
        study.order.before = hop_bytes(network, job->traffic, study.node_of, false);
        return study;
    }
    study.shape = job_shape(job->traffic);
    study.order = better_order(network, job->traffic, study.node_of, study.shape, study.plan.limit_s);
    const auto heaviest = [&](const std::vector<NodeIndex>& nodes, const HopBytes& load) {
        return named(network, heaviest_links(network, job->traffic, nodes, load.link_bytes, kMostLinks, kMostPairs));
    };
    study.heaviest = heaviest(study.node_of, study.order.before);
    study.mean_link_bytes = mean_of_used(study.order.before.link_bytes);
    study.shared = shared_link_share(network, study.nodes, study.order.before.link_bytes);
    if (study.order_is_better()) {
        study.heaviest_after = heaviest(study.order.node_of, study.order.after);
        study.shared_after = shared_link_share(network, study.nodes, study.order.after.link_bytes);
    }
    return study;
}

} // namespace plumb::network
