#include "network/files/ib_fabric.h"

#include "network/machine/switched_network.h"
#include "support/error.h"
#include "support/figures.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <unordered_map>

namespace plumb::network {

namespace {

// What stands between the next two quotes; `at` moves behind them. Empty: there are none.
std::string_view quoted(std::string_view line, size_t& at) {
    const size_t begin = line.find('"', at);
    const size_t end = begin == std::string_view::npos ? begin : line.find('"', begin + 1);
    if (end == std::string_view::npos)
        return {};
    at = end + 1;
    return line.substr(begin + 1, end - begin - 1);
}

std::string first_word(std::string_view text) { return std::string(text.substr(0, text.find_first_of(" \t"))); }

// "4xEDR": bytes a second of one cable; 0: not one of those.
double rate_of(std::string_view line) {
    // Gbit/s of a lane, after coding
    static const std::map<std::string_view, double> lanes{{"SDR", 2}, {"DDR", 4}, {"QDR", 8}, {"FDR10", 10}, {"FDR", 13.64},
                                                          {"EDR", 25}, {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};
    const size_t at = line.find_last_of(" \t");
    const std::string_view word = at == std::string_view::npos ? line : line.substr(at + 1);
    const size_t x = word.find('x');
    unsigned width = 0;
    if (x == std::string_view::npos || std::from_chars(word.data(), word.data() + x, width).ec != std::errc{})
        return 0;
    const auto lane = lanes.find(word.substr(x + 1));
    return lane == lanes.end() ? 0 : width * lane->second * 1e9 / 8;
}

struct Fabric {
    std::map<std::string, uint32_t> switches; // by id: number
    std::vector<std::string> switch_names;
    std::map<std::string, std::string> adapters;                             // by id: description
    std::map<std::pair<std::string, std::string>, uint32_t> cables;          // by ids of the switch and of what it goes to
    std::vector<std::pair<std::string, std::string>> order;                  // in which they came
    double slowest_bytes_per_s = 0;
};

void take_end(Fabric& fabric, const std::string& id, std::string_view line, size_t number) {
    size_t at = line.find(']');
    if (at == std::string_view::npos)
        throw Error(fmt::format("line {}: the port is not closed by a bracket", number));
    const std::string other(quoted(line, at));
    if (other.empty())
        throw Error(fmt::format("line {}: it does not say in quotes what the port is joined to", number));
    if (other.front() == 'H' && !fabric.adapters.contains(other)) {
        const size_t comment = line.find('#', at);
        size_t from = comment == std::string_view::npos ? line.size() : comment;
        fabric.adapters[other] = quoted(line, from);
    }
    if (++fabric.cables[{id, other}] == 1)
        fabric.order.emplace_back(id, other);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
        line.remove_suffix(1);
    if (const double rate = rate_of(line); rate > 0)
        fabric.slowest_bytes_per_s = fabric.slowest_bytes_per_s > 0 ? std::min(rate, fabric.slowest_bytes_per_s) : rate;
}

Fabric read_fabric(std::string_view text) {
    Fabric fabric;
    std::string owner; // the switch whose ports follow; empty: an adapter's, which say the same again
    size_t number = 0;
    for (size_t at = 0; at < text.size(); ++number) {
        const size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (line.starts_with("Switch")) {
            size_t from = 0;
            owner = quoted(line, from);
            if (owner.empty())
                throw Error(fmt::format("line {}: a switch without an id in quotes", number + 1));
            const std::string name(quoted(line, from));
            if (!fabric.switches.emplace(owner, static_cast<uint32_t>(fabric.switch_names.size())).second)
                throw Error(fmt::format("line {}: switch {} is described twice", number + 1, owner));
            fabric.switch_names.push_back(name.empty() ? owner : fmt::format("{} ({})", name, owner));
        } else if (line.starts_with("Ca") || line.starts_with("Rt")) {
            owner.clear();
        } else if (line.starts_with('[') && !owner.empty()) {
            take_end(fabric, owner, line, number + 1);
        }
    }
    return fabric;
}

} // namespace

bool is_ib_fabric(std::string_view text) {
    return text.find("switchguid=") != std::string_view::npos || text.find("\nSwitch\t") != std::string_view::npos;
}

TopologyFile ib_fabric(std::string_view text) {
    Fabric fabric = read_fabric(text);
    SwitchedPlan plan;
    plan.kind = "InfiniBand fabric";
    plan.switches = fabric.switch_names;
    std::unordered_map<std::string, uint32_t> nodes;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> between;
    size_t further_ports = 0;
    for (const auto& ends : fabric.order) {
        const uint32_t cables = fabric.cables.at(ends), own = fabric.switches.at(ends.first);
        if (const auto other = fabric.switches.find(ends.second); other != fabric.switches.end()) {
            uint32_t& known = between[std::minmax(own, other->second)]; // both switches list it
            known = std::max(known, cables);
        } else if (const auto adapter = fabric.adapters.find(ends.second); adapter != fabric.adapters.end()) {
            const std::string name = first_word(adapter->second);
            if (name.empty() || adapter->second.find("Aggregation Node") != std::string::npos) // a part of a switch
                continue;
            if (nodes.emplace(name, static_cast<uint32_t>(plan.nodes.size())).second) {
                plan.at.push_back({static_cast<uint32_t>(plan.nodes.size()), own, cables});
                plan.nodes.push_back(name);
            } else {
                ++further_ports;
            }
        }
    }
    for (const auto& [ends, cables] : between)
        plan.between.push_back({ends.first, ends.second, cables});
    if (further_ports > plan.nodes.size() * 4)
        throw Error(fmt::format("the adapters are described as \"{}\" and the like: their nodes' names are needed there, as rdma-ndd sets them",
                                fabric.adapters.begin()->second));
    TopologyFile file;
    file.link_bytes_per_s = fabric.slowest_bytes_per_s;
    file.network = std::make_unique<SwitchedNetwork>(std::move(plan));
    if (further_ports > 0)
        file.notes.push_back(fmt::format("{} of nodes that have another were left out: of each node its first port counts",
                                         counted(further_ports, "further port", "further ports")));
    return file;
}

} // namespace plumb::network
