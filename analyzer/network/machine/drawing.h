// A network as a flat picture.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::network {

struct Point {
    double x = 0, y = 0; // to the right and up; neighbours are about 1 apart

    friend Point middle(const Point& from, const Point& to) { return {(from.x + to.x) / 2, (from.y + to.y) / 2}; }
};

struct DrawnPlace { // a router or a switch
    std::string name;
    Point at;
    std::vector<uint32_t> nodes; // NodeIndex; none: messages only pass
};

// One direction of a link, from where it begins to half way: the other direction has the other half.
struct DrawnLink {
    uint32_t link = 0; // LinkIndex
    Point from, to;
};

struct Drawing {
    std::vector<DrawnPlace> places;
    std::vector<DrawnLink> links; // between places: those to single nodes are left out
};

} // namespace plumb::network
