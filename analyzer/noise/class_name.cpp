#include "noise/class_name.h"

#include "support/figures.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace plumb::noise {

namespace {

constexpr size_t kMostNamed = 8; // numbers of nodes

std::string where(const model::NoiseNodes& nodes, uint32_t count) {
    if (count <= 1)
        return "";
    if (nodes.offsets.empty())
        return " on all nodes";
    const char* noun = nodes.offsets.size() == 1 ? "node" : "nodes";
    if (nodes.offsets.size() > kMostNamed)
        return nodes.every ? fmt::format(" on {} of every {} nodes", nodes.offsets.size(), nodes.every)
                           : fmt::format(" on {} nodes", nodes.offsets.size());
    const std::string list = fmt::format(" on {} {}", noun, fmt::join(nodes.offsets, ", "));
    return nodes.every ? fmt::format("{} of every {}", list, nodes.every) : list;
}

} // namespace

std::string class_name(const model::NoiseClass& noise, uint32_t nodes) {
    const bool is_periodic = noise.regularity == model::NoiseClass::Regularity::periodic;
    std::string cpus;
    if (!noise.cpus.empty() && noise.cpus.size() <= kMostNamed)
        cpus = fmt::format(", CPU{} {}", noise.cpus.size() == 1 ? "" : "s", fmt::join(noise.cpus, ", "));
    return fmt::format("{} {} {}{}{}", format_seconds(noise.duration.mean_s),
                       is_periodic ? "every" : "at random, on average every", format_seconds(noise.mean_period_s()),
                       where(noise.nodes, nodes), cpus);
}

} // namespace plumb::noise
