// Two sets of measurements, one beside the other or each with its neighbour.
#pragma once

#include "statistics/difference.h"

#include <span>

namespace plumb {

// Whether the runs took place in turns, base[i] beside other[i]: then each is compared with its neighbour.
enum class Pairing { none, in_turns };

inline statistics::Shift shift_between(std::span<const double> base, std::span<const double> other, Pairing pairing) {
    return pairing == Pairing::in_turns ? statistics::paired_shift_of(base, other) : statistics::shift_of(base, other);
}

} // namespace plumb
