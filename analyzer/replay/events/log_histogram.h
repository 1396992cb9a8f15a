// How often which duration came, in eighths of octaves: quantiles to within 5 %, and adding up histograms loses nothing.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace plumb::replay {

class LogHistogram {
  public:
    // Negative durations have places of their own.
    void add(int64_t value, uint64_t times = 1) {
        counts_[place(value)] += static_cast<uint32_t>(times);
        total_ += times;
    }

    void merge(const LogHistogram& other) {
        for (size_t i = 0; i < counts_.size(); ++i)
            counts_[i] += other.counts_[i];
        total_ += other.total_;
    }

    uint64_t total() const { return total_; }

    // Value below which `part` (0..1) of all lie, taken as evenly spread within their place; 0 when there are none.
    double quantile(double part) const {
        const double wanted = part * static_cast<double>(total_);
        double below = 0;
        for (size_t i = 0; i < counts_.size(); ++i) {
            const auto here = static_cast<double>(counts_[i]);
            if (here > 0 && below + here >= wanted)
                return edge(static_cast<int>(i) - kSide) +
                       (edge(static_cast<int>(i) - kSide + 1) - edge(static_cast<int>(i) - kSide)) *
                           std::clamp((wanted - below) / here, 0.0, 1.0);
            below += here;
        }
        return 0;
    }

    // Sums of what values lie beyond a value, on either side; those in its own place count nothing.
    struct Distances {
        double below = 0, above = 0;
    };
    Distances distances_from(double value) const {
        Distances sums;
        const size_t own = place(static_cast<int64_t>(value));
        for (size_t i = 0; i < counts_.size(); ++i) {
            if (i == own || counts_[i] == 0)
                continue;
            const int at = static_cast<int>(i) - kSide;
            const double distance = (edge(at) + edge(at + 1)) / 2 - value;
            (distance < 0 ? sums.below : sums.above) += std::abs(distance) * static_cast<double>(counts_[i]);
        }
        return sums;
    }

  private:
    static constexpr int kParts = 8, kOctaves = 50, kSide = kParts * kOctaves;

    static size_t place(int64_t value) {
        const int at = magnitude(value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value));
        return static_cast<size_t>(value < 0 ? kSide - 1 - at : kSide + at);
    }

    // 0..7 as they are; from 8 on the octave and the three bits behind the leading one.
    static int magnitude(uint64_t value) {
        if (value < kParts)
            return static_cast<int>(value);
        const int octave = std::bit_width(value) - 4; // 0: 8..15
        const int part = static_cast<int>(value >> octave) - kParts;
        return std::min(kSide - 1, (octave + 1) * kParts + part);
    }

    // Lower edge of a place; negative places mirror the others.
    static double edge(int at) {
        if (at < 0)
            return -edge(-at);
        if (at < kParts)
            return at;
        const int octave = at / kParts - 1;
        return static_cast<double>(static_cast<uint64_t>(kParts + at % kParts) << octave);
    }

    std::array<uint32_t, 2 * kSide + 1> counts_ = {};
    uint64_t total_ = 0;
};

} // namespace plumb::replay
