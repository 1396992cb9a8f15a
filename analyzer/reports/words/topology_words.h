// What is said of a job's place in a network, in words that all formats share.
#pragma once

#include "network/study.h"

#include <cstdint>
#include <string>
#include <vector>

namespace plumb {

// "4 nodes", or of the inside of hosts "4 last-level caches".
std::string node_count_words(const network::Study& study, size_t nodes);
std::string allocation_words(const network::Study& study); // "512 nodes in 5 pieces; ..."
std::string messages_words(const network::Study& study);
std::string order_words(const network::Study& study);      // what the better order saves, or that there is none
std::string link_name(const network::Link& link);          // "(3,1,0) to (4,1,0)"
std::string pair_words(const network::PairTraffic& pair);  // "rank 3 to 17: 1.2 GiB"

std::string rank_ranges(const std::vector<uint32_t>& ranks); // ascending: "0-3, 8"

// What restricts the figures: assumptions of the topology, bytes whose way is not known.
std::vector<std::string> topology_notes(const network::Study& study);

} // namespace plumb
