// Tori are drawn as planes of the first two dimensions, side by side. Links that lead to another plane, or from one end of a ring to the
// other, are short strokes.
#include "network/machine/torus.h"

#include <algorithm>
#include <cmath>

namespace plumb::network {

namespace {

constexpr double kStroke = 0.42;

// Which way the strokes of a dimension lead: along the plane, and out of it on one of two diagonals.
Point stroke_of(size_t dimension) {
    switch (dimension) {
    case 0:
        return {1, 0};
    case 1:
        return {0, 1};
    default:
        return {1, dimension % 2 == 0 ? 1.0 : -1.0};
    }
}

// Planes in rows, so that the picture is about twice as wide as high.
struct Planes {
    uint32_t width, height, in_row;

    explicit Planes(const std::vector<Dimension>& dimensions)
        : width(dimensions[0].size), height(dimensions.size() > 1 ? dimensions[1].size : 1) {
        double count = 1;
        for (size_t i = 2; i < dimensions.size(); ++i)
            count *= dimensions[i].size;
        in_row = static_cast<uint32_t>(std::max(1.0, std::ceil(std::sqrt(2 * count * (height + 2) / (width + 2)))));
    }
    Point corner(uint32_t plane) const {
        return {static_cast<double>(plane % in_row) * (width + 2), -static_cast<double>(plane / in_row) * (height + 2)};
    }
};

} // namespace

Drawing Torus::drawing() const {
    Drawing drawing;
    if (dimensions_.empty())
        return drawing;
    const Planes planes(dimensions_);
    const auto place_of_router = [&](uint32_t router, size_t dimension) {
        return dimension < dimensions_.size() ? place_on_cable(dimension, coordinate(router, dimension)) : 0;
    };
    drawing.places.resize(router_count_);
    for (uint32_t router = 0; router < router_count_; ++router) {
        uint32_t plane = 0;
        for (size_t i = dimensions_.size(); i-- > 2;)
            plane = plane * dimensions_[i].size + place_of_router(router, i);
        const Point corner = planes.corner(plane);
        drawing.places[router].name = router_name(router);
        drawing.places[router].at = {corner.x + place_of_router(router, 0), corner.y + place_of_router(router, 1)};
    }
    for (NodeIndex node = 0; node < node_count(); ++node)
        drawing.places[routers_[node]].nodes.push_back(node);
    for (LinkIndex link = 0; link < link_count(); ++link) {
        const auto [from, to] = places_of_link(link);
        if (from == to)
            continue;
        const size_t dimension = link / 2 % dimensions_.size();
        const bool is_back = link % 2 != 0;
        const Point& at = drawing.places[from].at;
        const uint32_t place = place_of_router(from, dimension), next = place_of_router(to, dimension);
        if (dimension < 2 && (is_back ? next + 1 == place : place + 1 == next)) {
            drawing.links.push_back({link, at, middle(at, drawing.places[to].at)});
            continue;
        }
        const Point way = stroke_of(dimension);
        const double stroke = is_back ? -kStroke : kStroke;
        drawing.links.push_back({link, at, {at.x + stroke * way.x, at.y + stroke * way.y}});
    }
    return drawing;
}

} // namespace plumb::network
