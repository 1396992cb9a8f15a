// How the nodes of a machine are wired, and which way messages between them take.
#pragma once

#include "network/machine/drawing.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plumb::network {

using NodeIndex = uint32_t; // of Network::node_name()
using LinkIndex = uint32_t; // of Network::link()

// One direction of a cable, or of several cables between the same two ends that share what is sent.
struct Link {
    std::string from, to; // nodes, routers or switches
    uint32_t cables = 1;
};

// The ways of all messages to one node. Every way is a shortest one, and depends on its two ends alone. Not thread-safe: each
// thread makes its own.
class RoutesTo {
  public:
    virtual ~RoutesTo() = default;
    virtual void aim_at(NodeIndex to) = 0; // first of all
    virtual uint32_t hops_from(NodeIndex from) const = 0; // links passed; 0: none, as from the node to itself
    // hops_from() links in the order they are passed.
    virtual void append_links_from(NodeIndex from, std::vector<LinkIndex>& links) const = 0;
};

// Immutable once made. All nodes are connected.
class Network {
  public:
    // Throws Error where a name comes twice.
    explicit Network(std::vector<std::string> node_names);
    virtual ~Network() = default;
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    NodeIndex node_count() const { return static_cast<NodeIndex>(names_.size()); }
    const std::string& node_name(NodeIndex node) const { return names_[node]; }
    // Also by the first part of a name with dots: nid00012 is nid00012.example.org.
    std::optional<NodeIndex> node_named(std::string_view name) const;

    virtual std::string description() const = 0; // "torus of 11 x 12 x 16"
    virtual uint32_t link_count() const = 0;
    virtual Link link(LinkIndex link) const = 0;
    virtual uint32_t cables(LinkIndex) const { return 1; }
    // Of the routers or switches that it joins the places; kShared: one without nodes of its own, which messages of all others pass.
    static constexpr uint32_t kShared = UINT32_MAX;
    virtual std::pair<uint32_t, uint32_t> places_of_link(LinkIndex link) const = 0;
    virtual std::unique_ptr<RoutesTo> routes() const = 0;

    // Messages between nodes of one place pass none of the links that places share: nodes of one router, one leaf switch. From 0.
    virtual uint32_t place_of(NodeIndex node) const = 0;
    virtual uint32_t place_count() const = 0;
    // Places that one link joins, or one further switch.
    virtual void append_neighbours(uint32_t place, std::vector<uint32_t>& places) const = 0;

    // Parts within parts that messages leave only by links which all of the part shares, outermost first: for each level the part of
    // each node. Empty where the network has no such parts, as a torus.
    virtual std::vector<std::vector<uint32_t>> levels() const { return {}; }

    virtual Drawing drawing() const = 0;

  private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, NodeIndex> by_name_;
};

} // namespace plumb::network
