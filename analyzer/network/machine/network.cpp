#include "network/machine/network.h"

#include "support/error.h"

#include <fmt/format.h>

namespace plumb::network {

namespace {

std::string first_part(std::string_view name) { return std::string(name.substr(0, name.find('.'))); }

} // namespace

Network::Network(std::vector<std::string> node_names) : names_(std::move(node_names)) {
    by_name_.reserve(names_.size());
    for (NodeIndex node = 0; node < node_count(); ++node)
        if (const auto [entry, is_new] = by_name_.emplace(names_[node], node); !is_new)
            throw Error(fmt::format("two nodes are called {}: a node is known by its name alone", names_[node]));
    for (NodeIndex node = 0; node < node_count(); ++node)
        by_name_.emplace(first_part(names_[node]), node); // whole names go first
}

std::optional<NodeIndex> Network::node_named(std::string_view name) const {
    auto found = by_name_.find(std::string(name));
    if (found == by_name_.end())
        found = by_name_.find(first_part(name));
    return found == by_name_.end() ? std::nullopt : std::optional(found->second);
}

} // namespace plumb::network
