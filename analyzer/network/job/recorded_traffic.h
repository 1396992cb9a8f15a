// The messages of a job that ran, and where its ranks were.
#pragma once

#include "network/job/traffic.h"

#include <string>
#include <vector>

namespace plumb::network {

struct RecordedTraffic {
    std::string run; // as the user named it
    Traffic traffic;
    std::vector<std::string> host_of;                   // of each rank
    std::vector<uint32_t> cpus_of;                      // of each rank's host; 0: not known
    uint64_t unplaced_messages = 0, unplaced_bytes = 0; // whose other end is not known
    double collective_bytes = 0; // sent in collectives: whose way is the library's affair, and which are not in `traffic`
};

} // namespace plumb::network
