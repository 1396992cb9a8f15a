#include "noise/log_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace plumb::noise {

namespace {

constexpr int kMantissaBits = 52;
constexpr double kSides = 2;           // widths of the window on each side of it that say what to expect
constexpr double kLeastDensity = 0.25; // of the mean density: an empty neighbourhood may be empty by chance

} // namespace

// The leading bits of a positive floating-point number count its octave and the equal steps within: no logarithm is needed.
LogHistogram::LogHistogram(double least, double most, int bits)
    : shift_(kMantissaBits - bits), first_(std::bit_cast<uint64_t>(least) >> shift_),
      counts_((std::bit_cast<uint64_t>(most) >> shift_) - first_ + 1), sums_(counts_.size()) {}

size_t LogHistogram::bin_of(double value) const {
    const uint64_t bin = std::bit_cast<uint64_t>(value) >> shift_;
    return value > 0 && bin >= first_ ? static_cast<size_t>(bin - first_) : counts_.size();
}

double LogHistogram::begin_of(size_t bin) const {
    return std::bit_cast<double>((first_ + bin) << shift_);
}

double LogHistogram::total() const {
    double total = 0;
    for (const uint32_t count : counts_)
        total += count;
    return total;
}

std::vector<HistogramPeak> LogHistogram::peaks(double finest, const std::vector<double>& widths, double least_evidence,
                                               size_t most) const {
    const size_t bins = counts_.size();
    std::vector<double> counts_before(bins + 1), sums_before(bins + 1);
    for (size_t bin = 0; bin < bins; ++bin) {
        counts_before[bin + 1] = counts_before[bin] + counts_[bin];
        sums_before[bin + 1] = sums_before[bin] + sums_[bin];
    }
    const auto place = [&](double value) { // the nearest border of a bin
        if (value <= begin_of(0))
            return size_t{0};
        const size_t bin = std::min(bin_of(value), bins);
        return bin < bins && value - begin_of(bin) > begin_of(bin + 1) - value ? bin + 1 : bin;
    };
    const double mean_density = counts_before[bins] / (begin_of(bins) - begin_of(0));
    std::vector<HistogramPeak> found;
    for (const double share : widths)
        for (size_t bin = 0; bin < bins; ++bin) {
            if (counts_[bin] == 0)
                continue;
            const double middle = (begin_of(bin) + begin_of(bin + 1)) / 2;
            const double width = std::max({finest, share * middle, begin_of(bin + 1) - begin_of(bin)});
            size_t least = place(middle - width / 2), end = place(middle + width / 2);
            least = std::min(least, bin);
            end = std::max(end, bin + 1);
            const double inside = begin_of(end) - begin_of(least), count = counts_before[end] - counts_before[least];
            const size_t left = place(begin_of(least) - kSides * width), right = place(begin_of(end) + kSides * width);
            const double left_density =
                least > left ? (counts_before[least] - counts_before[left]) / (begin_of(least) - begin_of(left)) : 0;
            const double right_density =
                right > end ? (counts_before[right] - counts_before[end]) / (begin_of(right) - begin_of(end)) : 0;
            const double density = std::max({left_density, right_density, kLeastDensity * mean_density});
            const double expected = density * inside;
            if (count <= expected || count < 2)
                continue;
            const double evidence = count * std::log(count / expected) - (count - expected);
            if (evidence >= least_evidence)
                found.push_back({begin_of(least), begin_of(end), (sums_before[end] - sums_before[least]) / count, inside, count,
                                 expected, evidence});
        }
    std::ranges::sort(found, [](const auto& a, const auto& b) { return a.evidence > b.evidence; });
    std::vector<HistogramPeak> kept;
    for (const HistogramPeak& peak : found) {
        if (kept.size() == most)
            break;
        if (std::ranges::none_of(kept, [&](const auto& other) { return peak.least < other.most && other.least < peak.most; }))
            kept.push_back(peak);
    }
    return kept;
}

} // namespace plumb::noise
