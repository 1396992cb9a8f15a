#include "network/machine/host_inside.h"

#include "network/machine/switched_network.h"
#include "support/figures.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace plumb::network {

namespace {

class HostInside : public SwitchedNetwork {
  public:
    HostInside(SwitchedPlan plan, std::string words) : SwitchedNetwork(std::move(plan)), words_(std::move(words)) {}
    std::string description() const override { return words_; }

  private:
    std::string words_;
};

struct Levels { // that divide something
    bool hosts = false, packages = false, numa_nodes = false;
};

Levels levels_of(const std::vector<CacheGroup>& groups) {
    std::set<std::string> hosts;
    std::map<std::string, std::set<int>> packages;
    std::map<std::pair<std::string, int>, std::set<int>> numa_nodes;
    for (const CacheGroup& group : groups) {
        hosts.insert(group.host);
        packages[group.host].insert(group.package);
        numa_nodes[{group.host, group.package}].insert(group.numa_node);
    }
    const auto several = [](const auto& each) { return each.second.size() > 1; };
    return {hosts.size() > 1, std::ranges::any_of(packages, several), std::ranges::any_of(numa_nodes, several)};
}

// Switches by name, each joined to the one around it when it is made.
class Tree {
  public:
    explicit Tree(SwitchedPlan& plan) : plan_(plan) {}

    uint32_t at(const std::string& name, int around) {
        const auto [place, is_new] = numbers_.try_emplace(name, static_cast<uint32_t>(plan_.switches.size()));
        if (is_new) {
            plan_.switches.push_back(name);
            if (around >= 0)
                plan_.between.push_back({place->second, static_cast<uint32_t>(around), 1});
        }
        return place->second;
    }

  private:
    SwitchedPlan& plan_;
    std::map<std::string, uint32_t> numbers_;
};

} // namespace

std::string name_of(const CacheGroup& group) {
    std::string name = group.host;
    if (group.package >= 0)
        name += fmt::format(" package {}", group.package);
    if (group.numa_node >= 0)
        name += fmt::format(" NUMA node {}", group.numa_node);
    return group.cache >= 0 ? name + fmt::format(" cache {}", group.cache) : name;
}

std::unique_ptr<Network> inside_of_hosts(std::vector<CacheGroup> groups) {
    std::ranges::sort(groups);
    groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
    const Levels levels = levels_of(groups);
    SwitchedPlan plan;
    plan.kind = "inside of hosts";
    Tree tree(plan);
    std::set<std::string> hosts, packages, numa_nodes;
    for (const CacheGroup& group : groups) {
        int around = levels.hosts ? static_cast<int>(tree.at("the network", -1)) : -1;
        around = static_cast<int>(tree.at(group.host, around));
        const std::string package = fmt::format("{} package {}", group.host, group.package);
        const std::string numa_node = fmt::format("{} NUMA node {}", group.host, group.numa_node);
        const std::string part_of_package = fmt::format("{} NUMA node {}", package, group.numa_node); // some go over several
        if (levels.packages)
            around = static_cast<int>(tree.at(package, around));
        if (levels.numa_nodes)
            around = static_cast<int>(tree.at(part_of_package, around));
        plan.at.push_back({static_cast<uint32_t>(plan.nodes.size()), static_cast<uint32_t>(around), 1});
        plan.nodes.push_back(name_of(group));
        hosts.insert(group.host);
        packages.insert(package);
        numa_nodes.insert(numa_node);
    }
    std::string words = fmt::format(
        "inside of {}: {}, {}, {}", counted(hosts.size(), "host", "hosts"), counted(packages.size(), "package", "packages"),
        counted(numa_nodes.size(), "NUMA node", "NUMA nodes"), counted(groups.size(), "last-level cache", "last-level caches"));
    return std::make_unique<HostInside>(std::move(plan), std::move(words));
}

} // namespace plumb::network
