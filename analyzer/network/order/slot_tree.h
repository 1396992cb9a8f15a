// The slots that a job was given, halved again and again so that each part lies close together.
#pragma once

#include "network/machine/network.h"

#include <span>

namespace plumb::network {

// A slot takes one rank; its number is that of the rank which has it now.
class SlotTree {
  public:
    struct Part {
        uint32_t begin = 0, end = 0; // in slots()
        int32_t first = -1;          // number of the first half, the second comes next; -1: all of it is in one place
    };

    // `node_of`: of each slot. Networks with levels are divided between their parts, tori across their longest extent.
    SlotTree(const Network& network, std::span<const NodeIndex> node_of);

    const std::vector<uint32_t>& slots() const { return slots_; }
    const std::vector<Part>& parts() const { return parts_; } // the first is all of them

  private:
    void divide(size_t part);
    uint32_t by_levels(const Part& part);
    uint32_t by_extent(const Part& part);
    uint32_t boundary_nearest_half(const Part& part, const std::vector<uint32_t>& key) const;

    const Network& network_;
    const std::span<const NodeIndex> node_of_;
    const std::vector<std::vector<uint32_t>> levels_;
    std::vector<uint32_t> slots_;
    std::vector<Part> parts_;
};

} // namespace plumb::network
