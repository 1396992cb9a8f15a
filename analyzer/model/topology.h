// What the machine of a run is made of, as hwloc described it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace plumb::model {

struct Topology {
    std::string xml; // hwloc's own form; empty: not recorded

    // The largest cache that one core has for itself. Empty: the description names none. The text is a stranger's file:
    // it is searched, not handed to a library that would follow it.
    std::optional<uint64_t> core_cache_bytes() const;
};

} // namespace plumb::model
