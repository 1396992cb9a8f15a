// Valid traces that fuzzing starts from: every kind of record, with ids that refer to each other.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace plumb::trace {

// Name and content.
std::vector<std::pair<std::string, std::vector<std::byte>>> make_seeds();

std::vector<std::byte> make_rank_trace(); // of a rank of two: MPI alone

} // namespace plumb::trace
