#include "network/files/described_topology.h"

#include "network/files/cray_name.h"
#include "network/files/host_list.h"
#include "network/files/name_pattern.h"
#include "network/machine/dragonfly.h"
#include "network/machine/switched_network.h"
#include "network/machine/torus.h"
#include "support/error.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_map>

namespace plumb::network {

using nlohmann::json;

const char* const kTopologyExamples = R"({ "schema": "plumb-topology/1",
  "torus": { "dimensions": [ { "name": "x", "size": 11, "wiring": [0,2,4,6,8,10,9,7,5,3,1] },
                             { "name": "y", "size": 12 },
                             { "name": "z", "size": 16, "wraps": false } ],
             "names": "c{x}-{y}n{z:02}" },
  "link_bytes_per_s": 7.6e9, "hop_s": 5e-8 }
  instead of "names": "nodes": [ ["nid00000", 0, 0, 0], ... ]; nodes that share a router: "nodes_per_router": 2 and {node}

{ "schema": "plumb-topology/1",
  "dragonfly": { "groups": 9, "rows": 6, "columns": 16, "nodes_per_router": 4, "global_cables": 4, "names": "nid{index:05}" } }
  or "nodes": [ ["nid00000", "c0-0c0s0n0"], ... ] with "cabinets_in_row": 8

{ "schema": "plumb-topology/1",
  "switches": [ { "name": "leaf0", "nodes": "n[000-023]", "up": [ { "to": "spine0", "cables": 4 } ] }, { "name": "spine0" } ] }
)";

namespace {

constexpr uint64_t kMostNodes = 4'000'000;
constexpr size_t kMostDimensionsOfFile = 10;

uint32_t count_of(const json& from, const char* key, uint32_t otherwise) {
    const auto found = from.find(key);
    if (found == from.end())
        return otherwise;
    if (!found->is_number_unsigned() || found->get<uint64_t>() > kMostNodes)
        throw Error(fmt::format("\"{}\" must be a whole number from 0 to {}", key, kMostNodes));
    return found->get<uint32_t>();
}

double rate_of(const json& from, const char* key) {
    const auto found = from.find(key);
    if (found == from.end())
        return 0;
    if (!found->is_number() || found->get<double>() < 0)
        throw Error(fmt::format("\"{}\" must be a number, 0 or more", key));
    return found->get<double>();
}

std::string text_of(const json& from, const char* key) {
    const auto found = from.find(key);
    if (found == from.end())
        return {};
    if (!found->is_string())
        throw Error(fmt::format("\"{}\" must be a text", key));
    return found->get<std::string>();
}

const json& list_of(const json& from, const char* key) {
    static const json empty = json::array();
    const auto found = from.find(key);
    if (found == from.end())
        return empty;
    if (!found->is_array())
        throw Error(fmt::format("\"{}\" must be a list", key));
    return *found;
}

std::vector<Dimension> dimensions_of(const json& torus) {
    std::vector<Dimension> dimensions;
    for (const json& each : list_of(torus, "dimensions")) {
        Dimension made;
        made.name = text_of(each, "name");
        if (made.name.empty())
            made.name = std::string(1, "xyzabcdefg"[std::min<size_t>(dimensions.size(), 9)]);
        made.size = count_of(each, "size", 0);
        if (const auto wraps = each.find("wraps"); wraps != each.end())
            made.wraps = wraps->is_boolean() ? wraps->get<bool>() : throw Error("\"wraps\" must be true or false");
        for (const json& number : list_of(each, "wiring")) {
            if (!number.is_number_unsigned() || number.get<uint64_t>() >= made.size)
                throw Error(fmt::format("\"wiring\" must be a list of the numbers from 0 to {}", made.size == 0 ? 0 : made.size - 1));
            made.wiring.push_back(number.get<uint32_t>());
        }
        dimensions.push_back(std::move(made));
    }
    if (dimensions.empty())
        throw Error("a torus needs \"dimensions\": a list of { \"name\", \"size\", \"wraps\" }");
    if (dimensions.size() > kMostDimensionsOfFile)
        throw Error(fmt::format("{} dimensions: {} at most", dimensions.size(), kMostDimensionsOfFile));
    return dimensions;
}

std::unique_ptr<Network> torus_of(const json& torus) {
    std::vector<Dimension> dimensions = dimensions_of(torus);
    std::vector<std::string> names;
    std::vector<uint32_t> routers;
    if (const json& nodes = list_of(torus, "nodes"); !nodes.empty()) {
        for (const json& node : nodes) {
            if (!node.is_array() || node.size() != dimensions.size() + 1 || !node[0].is_string())
                throw Error(fmt::format("each of \"nodes\" must be [ \"name\", {} coordinates ]: {}", dimensions.size(), node.dump().substr(0, 100)));
            uint64_t router = 0;
            for (size_t i = dimensions.size(); i-- > 0;) {
                if (!node[i + 1].is_number_unsigned() || node[i + 1].get<uint64_t>() >= dimensions[i].size)
                    throw Error(fmt::format("node {} lies outside of the dimensions", node[0].get<std::string>()));
                router = router * dimensions[i].size + node[i + 1].get<uint32_t>();
            }
            names.push_back(node[0].get<std::string>());
            routers.push_back(static_cast<uint32_t>(router));
        }
        return std::make_unique<Torus>(std::move(dimensions), std::move(names), std::move(routers));
    }
    const uint32_t each = count_of(torus, "nodes_per_router", 1);
    uint64_t count = each;
    for (const Dimension& dimension : dimensions)
        if (count *= dimension.size; count == 0 || count > kMostNodes)
            throw Error(fmt::format("the dimensions come to no nodes, or to more than {}", kMostNodes));
    const NamePattern pattern(text_of(torus, "names"));
    std::vector<NamePattern::Field> fields{{"index", 0}, {"node", 0}};
    for (const Dimension& dimension : dimensions)
        fields.push_back({dimension.name, 0});
    for (uint32_t node = 0; node < count; ++node) {
        uint32_t router = node / each;
        routers.push_back(router);
        fields[0].value = node;
        fields[1].value = node % each;
        for (size_t i = 0; i < dimensions.size(); ++i) {
            fields[i + 2].value = router % dimensions[i].size;
            router /= dimensions[i].size;
        }
        names.push_back(pattern.name(fields));
    }
    return std::make_unique<Torus>(std::move(dimensions), std::move(names), std::move(routers));
}

std::unique_ptr<Network> dragonfly_of(const json& dragonfly) {
    DragonflyPlan plan;
    plan.groups = count_of(dragonfly, "groups", 0);
    plan.rows = count_of(dragonfly, "rows", 1);
    plan.columns = count_of(dragonfly, "columns", 0);
    plan.global_cables = count_of(dragonfly, "global_cables", 1);
    if (const json& nodes = list_of(dragonfly, "nodes"); !nodes.empty()) {
        const uint32_t in_row = count_of(dragonfly, "cabinets_in_row", 0);
        for (const json& node : nodes) {
            if (!node.is_array() || node.size() != 2 || !node[0].is_string() || !node[1].is_string())
                throw Error(fmt::format("each of \"nodes\" must be [ \"name\", \"c0-0c0s0n0\" ]: {}", node.dump().substr(0, 100)));
            plan.nodes.push_back(node[0].get<std::string>());
            plan.routers.push_back(cray_router(node[1].get<std::string>(), in_row, plan.rows, plan.columns));
        }
        return std::make_unique<Dragonfly>(std::move(plan));
    }
    const uint32_t each = count_of(dragonfly, "nodes_per_router", 1);
    const double count = static_cast<double>(plan.groups) * plan.rows * plan.columns * each; // a double: it may leave 64 bits
    if (count < 1 || count > static_cast<double>(kMostNodes))
        throw Error(fmt::format("the groups come to no nodes, or to more than {}", kMostNodes));
    const NamePattern pattern(text_of(dragonfly, "names"));
    for (uint32_t node = 0; node < static_cast<uint32_t>(count); ++node) {
        const uint32_t router = node / each, in_group = plan.rows * plan.columns;
        plan.routers.push_back(router);
        plan.nodes.push_back(pattern.name({{"index", node}, {"node", node % each}, {"group", router / in_group},
                                           {"row", router % in_group / plan.columns}, {"column", router % plan.columns}}));
    }
    return std::make_unique<Dragonfly>(std::move(plan));
}

std::unique_ptr<Network> switches_of(const json& switches) {
    SwitchedPlan plan;
    plan.kind = "network";
    std::unordered_map<std::string, uint32_t> known;
    for (const json& each : switches) {
        plan.switches.push_back(text_of(each, "name"));
        if (plan.switches.back().empty())
            throw Error("each of \"switches\" needs a \"name\"");
        if (!known.emplace(plan.switches.back(), static_cast<uint32_t>(plan.switches.size() - 1)).second)
            throw Error(fmt::format("switch {} is described twice", plan.switches.back()));
    }
    for (uint32_t own = 0; own < switches.size(); ++own) {
        if (const std::string nodes = text_of(switches[own], "nodes"); !nodes.empty())
            for (std::string& name : expand_host_list(nodes)) {
                plan.at.push_back({static_cast<uint32_t>(plan.nodes.size()), own, 1});
                plan.nodes.push_back(std::move(name));
            }
        for (const json& up : list_of(switches[own], "up")) {
            const std::string to = text_of(up, "to");
            const auto other = known.find(to);
            if (other == known.end())
                throw Error(fmt::format("switch {} is joined to \"{}\", which is not described", plan.switches[own], to));
            const uint32_t cables = count_of(up, "cables", 1);
            if (cables == 0)
                throw Error(fmt::format("switch {} is joined to {} by 0 cables", plan.switches[own], to));
            plan.between.push_back({own, other->second, cables});
        }
    }
    return std::make_unique<SwitchedNetwork>(std::move(plan));
}

} // namespace

TopologyFile described_topology(const std::string& text) {
    json described;
    try {
        described = json::parse(text);
    } catch (const json::exception& error) {
        throw Error(fmt::format("not JSON: {}", error.what()));
    }
    if (text_of(described, "schema") != "plumb-topology/1")
        throw Error("its \"schema\" is not \"plumb-topology/1\"");
    TopologyFile file;
    file.link_bytes_per_s = rate_of(described, "link_bytes_per_s");
    file.hop_s = rate_of(described, "hop_s");
    const auto torus = described.find("torus"), dragonfly = described.find("dragonfly"), switches = described.find("switches");
    if ((torus != described.end()) + (dragonfly != described.end()) + (switches != described.end()) != 1)
        throw Error("it needs one of \"torus\", \"dragonfly\" and \"switches\"");
    if (torus != described.end())
        file.network = torus_of(*torus);
    else if (dragonfly != described.end())
        file.network = dragonfly_of(*dragonfly);
    else
        file.network = switches->is_array() ? switches_of(*switches) : throw Error("\"switches\" must be a list");
    if (dragonfly != described.end())
        file.notes.push_back("cables between groups are taken to be spread evenly over the routers, and messages to take shortest ways");
    return file;
}

} // namespace plumb::network
