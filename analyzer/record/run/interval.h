// How long the intervals of a run are: they lengthen with its age, so that their number grows with the logarithm of
// its length and the file stays bounded.
#pragma once

#include <cstdint>

namespace plumb::record {

inline constexpr uint64_t kShortestInterval_ns = 100'000'000;

// `age_ns`: since the run began. `subjects`: how many things (threads, CPUs) write a record each interval; the more,
// the longer. At most about 64 intervals for each e-fold of the age.
inline uint64_t interval_ns(uint64_t age_ns, uint64_t subjects) {
    constexpr uint64_t kRecordsEachFold = 6000, kMostParts = 64, kFewestParts = 2;
    uint64_t parts = kRecordsEachFold / (subjects ? subjects : 1);
    parts = parts > kMostParts ? kMostParts : parts < kFewestParts ? kFewestParts : parts;
    const uint64_t length = age_ns / parts;
    return length > kShortestInterval_ns ? length : kShortestInterval_ns;
}

} // namespace plumb::record
