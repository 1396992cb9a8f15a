// Whose turn it is: each round has one run of each command, every other round in the opposite order (A B B A ..). What changes slowly
// on a machine then changes all of them alike, and none always follows on the same other.
#pragma once

#include <cstddef>
#include <vector>

namespace plumb::repeat {

struct Turn {
    size_t command = 0; // index
    size_t round = 0;
    bool is_warm_up = false; // it is run as the others and does not count
};

// Warm-up rounds come first.
std::vector<Turn> turns_of(size_t commands, size_t warm_up_rounds, size_t rounds);

} // namespace plumb::repeat
