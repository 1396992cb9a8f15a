#include "network/machine/torus.h"

#include "support/error.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

namespace plumb::network {

namespace {

constexpr uint64_t kMostRouters = uint64_t{1} << 26;

std::vector<uint32_t> numbers_on_cable(const Dimension& dimension) {
    std::vector<uint32_t> numbers = dimension.wiring;
    if (numbers.empty()) {
        numbers.resize(dimension.size);
        std::iota(numbers.begin(), numbers.end(), 0u);
    }
    std::vector<uint32_t> sorted = numbers;
    std::ranges::sort(sorted);
    for (uint32_t i = 0; i < std::max<size_t>(sorted.size(), dimension.size); ++i)
        if (sorted.size() != dimension.size || sorted[i] != i)
            throw Error(fmt::format("the wiring of dimension {} must name each of the numbers 0 to {} once: {}", dimension.name,
                                    dimension.size - 1, fmt::join(numbers, " ")));
    return numbers;
}

} // namespace

// Link number: (router * dimensions + dimension) * 2 + 1 for the way back along the cable.
class TorusRoutes : public RoutesTo {
  public:
    explicit TorusRoutes(const Torus& torus) : torus_(torus), places_(torus.dimensions().size()) {}

    void aim_at(NodeIndex to) override {
        router_ = torus_.router_of(to);
        for (size_t i = 0; i < places_.size(); ++i)
            places_[i] = torus_.place_on_cable(i, torus_.coordinate(router_, i));
    }

    uint32_t hops_from(NodeIndex from) const override {
        const uint32_t router = torus_.router_of(from);
        uint32_t hops = 0;
        for (size_t i = 0; i < places_.size(); ++i)
            hops += torus_.distance_on_cable(i, torus_.place_on_cable(i, torus_.coordinate(router, i)), places_[i]);
        return hops;
    }

    void append_links_from(NodeIndex from, std::vector<LinkIndex>& links) const override {
        uint32_t router = torus_.router_of(from);
        const auto count = static_cast<uint32_t>(places_.size());
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t size = torus_.dimensions()[i].size;
            uint32_t place = torus_.place_on_cable(i, torus_.coordinate(router, i));
            const uint32_t ahead = (places_[i] + size - place) % size, hops = torus_.distance_on_cable(i, place, places_[i]);
            const bool back = torus_.dimensions()[i].wraps ? ahead != hops : places_[i] < place; // of two equal ways the one ahead
            for (uint32_t hop = 0; hop < hops; ++hop) {
                links.push_back((router * count + i) * 2 + back);
                place = (place + (back ? size - 1 : 1)) % size;
                router = torus_.router_at(router, i, place);
            }
        }
    }

  private:
    const Torus& torus_;
    uint32_t router_ = 0;
    std::vector<uint32_t> places_; // on the cables, by dimension
};

Torus::Torus(std::vector<Dimension> dimensions, std::vector<std::string> node_names, std::vector<uint32_t> routers)
    : Network(std::move(node_names)), dimensions_(std::move(dimensions)), routers_(std::move(routers)) {
    uint64_t count = 1;
    for (const Dimension& dimension : dimensions_) {
        if (dimension.size == 0)
            throw Error(fmt::format("dimension {} has no routers: its size must be 1 or more", dimension.name));
        strides_.push_back(static_cast<uint32_t>(count));
        count *= dimension.size;
        if (count > kMostRouters)
            throw Error(fmt::format("the dimensions come to more than {} routers", kMostRouters));
        numbers_.push_back(numbers_on_cable(dimension));
        places_.emplace_back(dimension.size);
        for (uint32_t place = 0; place < dimension.size; ++place)
            places_.back()[numbers_.back()[place]] = place;
    }
    router_count_ = static_cast<uint32_t>(count);
    if (routers_.size() != node_count())
        throw Error(fmt::format("{} nodes have names and {} have coordinates", node_count(), routers_.size()));
    for (NodeIndex node = 0; node < node_count(); ++node)
        if (routers_[node] >= router_count_)
            throw Error(fmt::format("node {} lies outside of the dimensions", node_name(node)));
}

uint32_t Torus::coordinate(uint32_t router, size_t dimension) const {
    return router / strides_[dimension] % dimensions_[dimension].size;
}

uint32_t Torus::router_at(uint32_t router, size_t dimension, uint32_t place) const {
    return router + (numbers_[dimension][place] - coordinate(router, dimension)) * strides_[dimension]; // modulo 2^32
}

uint32_t Torus::distance_on_cable(size_t dimension, uint32_t place, uint32_t other) const {
    const uint32_t apart = place > other ? place - other : other - place;
    return dimensions_[dimension].wraps ? std::min(apart, dimensions_[dimension].size - apart) : apart;
}

std::string Torus::description() const {
    std::vector<uint32_t> sizes;
    std::vector<std::string> lines;
    for (const Dimension& dimension : dimensions_) {
        sizes.push_back(dimension.size);
        if (!dimension.wraps)
            lines.push_back(dimension.name);
    }
    const bool is_mesh = lines.size() == dimensions_.size();
    return fmt::format("{} of {}{}", is_mesh ? "mesh" : "torus", fmt::join(sizes, " x "),
                       is_mesh || lines.empty() ? "" : fmt::format(" (open in {})", fmt::join(lines, ", ")));
}

uint32_t Torus::link_count() const { return router_count_ * static_cast<uint32_t>(dimensions_.size()) * 2; }

std::string Torus::router_name(uint32_t router) const {
    std::vector<uint32_t> coordinates;
    for (size_t i = 0; i < dimensions_.size(); ++i)
        coordinates.push_back(coordinate(router, i));
    return fmt::format("({})", fmt::join(coordinates, ","));
}

std::pair<uint32_t, uint32_t> Torus::places_of_link(LinkIndex link) const {
    const auto count = static_cast<uint32_t>(dimensions_.size());
    const uint32_t router = link / 2 / count, dimension = link / 2 % count;
    return {router, next_router(router, dimension, link % 2 != 0).value_or(router)}; // the end of a line: nothing goes there
}

Link Torus::link(LinkIndex link) const {
    const auto [from, to] = places_of_link(link);
    return {router_name(from), router_name(to), 1};
}

std::optional<uint32_t> Torus::next_router(uint32_t router, size_t dimension, bool back) const {
    const uint32_t size = dimensions_[dimension].size, place = places_[dimension][coordinate(router, dimension)];
    if (size == 1 || (!dimensions_[dimension].wraps && place == (back ? 0 : size - 1)))
        return std::nullopt;
    return router_at(router, dimension, (place + (back ? size - 1 : 1)) % size);
}

std::unique_ptr<RoutesTo> Torus::routes() const { return std::make_unique<TorusRoutes>(*this); }

void Torus::append_neighbours(uint32_t place, std::vector<uint32_t>& places) const {
    for (size_t i = 0; i < dimensions_.size(); ++i)
        for (const bool back : {false, true})
            if (const auto next = next_router(place, i, back); next && std::ranges::find(places, *next) == places.end())
                places.push_back(*next);
}

} // namespace plumb::network
