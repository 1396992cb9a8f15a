// A histogram with bins of equal ratio, and the peaks that rise from their surroundings by more than chance.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plumb::noise {

struct HistogramPeak {
    double least = 0, most = 0, mean = 0; // of the values in it
    double width = 0;                     // of the window in which it stands out most
    double count = 0, expected = 0;       // values in the window; by its surroundings
    double evidence = 0;                  // log-likelihood ratio of `count` against `expected`, both Poisson
};

class LogHistogram {
  public:
    // For positive values up to `most`; `bits`: 2^bits bins for each doubling.
    LogHistogram(double least, double most, int bits);

    void add(double value) {
        const size_t bin = bin_of(value);
        if (bin < counts_.size()) {
            ++counts_[bin];
            sums_[bin] += value;
        }
    }
    double total() const;

    // Highest evidence first, of any width from `finest` or these shares of the value; windows do not overlap.
    std::vector<HistogramPeak> peaks(double finest, const std::vector<double>& widths, double least_evidence,
                                     size_t most) const;

  private:
    size_t bin_of(double value) const; // out of range: beyond the last
    double begin_of(size_t bin) const;

    int shift_;
    uint64_t first_;
    std::vector<uint32_t> counts_;
    std::vector<double> sums_;
};

} // namespace plumb::noise
