#include "diagnoses/common/confidence.h"

#include <algorithm>
#include <cmath>

namespace plumb {

double share_error(uint64_t hits, uint64_t samples) {
    if (samples == 0)
        return 0.5;
    // One success and one failure added keep the error above zero when all samples agree (Agresti and Coull).
    const double n = static_cast<double>(samples) + 2;
    const double share = (static_cast<double>(std::min(hits, samples)) + 1) / n;
    return std::sqrt(share * (1 - share) / n);
}

double confidence_above(uint64_t hits, uint64_t samples, double threshold) {
    if (samples == 0)
        return 0;
    const double n = static_cast<double>(samples);
    const double distance = (static_cast<double>(hits) - 0.5) / n - threshold;
    return 0.5 * std::erfc(-distance / share_error(hits, samples) / std::sqrt(2.0));
}

} // namespace plumb
