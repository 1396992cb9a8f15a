#include "network/machine/one_switch.h"

#include "network/machine/switched_network.h"

#include <set>

namespace plumb::network {

std::vector<std::string> each_name_once(const std::vector<std::string>& names) {
    std::vector<std::string> once;
    std::set<std::string> known;
    for (const std::string& name : names)
        if (known.insert(name).second)
            once.push_back(name);
    return once;
}

std::unique_ptr<Network> one_switch(std::vector<std::string> hosts) {
    SwitchedPlan plan;
    plan.kind = "network";
    for (uint32_t i = 0; i < hosts.size(); ++i)
        plan.at.push_back({i, 0, 1});
    plan.nodes = std::move(hosts);
    plan.switches = {"the network"};
    return std::make_unique<SwitchedNetwork>(std::move(plan));
}

} // namespace plumb::network
