#pragma once

#include <cmath>

namespace plumb {

// To one part of `steps`; 0 where there is no number. A chart shows no more, and the page stays small.
inline double rounded(double value, double steps) {
    return std::isfinite(value) ? std::round(value * steps) / steps : 0;
}

} // namespace plumb
