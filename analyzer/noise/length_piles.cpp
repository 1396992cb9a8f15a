#include "noise/length_piles.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plumb::noise {

namespace {

constexpr double kLeastPile = 20;     // losses
constexpr double kLeastEvidence = 30; // log-likelihood ratio of as many losses against as many as expected
constexpr double kMostAround = 0.2;   // of the losses in a pile: as many as its surroundings would have
constexpr double kAddition = 3;       // times the shortest loss: what random short losses, which are not seen, add to an event

class Piles {
  public:
    explicit Piles(const LossStreams& streams) : shortest_s_(streams.least_s()) {
        for (uint32_t loss = 0; loss < streams.count(); ++loss)
            if (const double left_s = streams.left_s(loss); left_s > 0) {
                least_s_ = std::min(least_s_, left_s);
                most_s_ = std::max(most_s_, left_s);
            }
        if (most_s_ == 0)
            return;
        counts_.resize(bin_of(most_s_) + 1);
        for (uint32_t loss = 0; loss < streams.count(); ++loss)
            if (const double left_s = streams.left_s(loss); left_s > 0)
                ++counts_[bin_of(left_s)];
    }

    // The highest first, and of each place that of the least width that shows it; they do not overlap.
    std::vector<Pile> all() const {
        std::vector<Pile> found;
        std::vector<bool> is_taken(counts_.size());
        for (const size_t width : {1, 4, 12, 30}) {
            const std::vector<double> smooth = smoothed(width);
            std::vector<size_t> order;
            for (size_t bin = 0; bin < smooth.size(); ++bin)
                if (smooth[bin] * static_cast<double>(width) >= kLeastPile / 2)
                    order.push_back(bin);
            std::ranges::stable_sort(order, [&](size_t a, size_t b) { return smooth[a] > smooth[b]; });
            std::vector<bool> is_seen(smooth.size());
            for (const size_t bin : order) {
                if (is_seen[bin] || is_taken[bin])
                    continue;
                const auto [low, is_low] = valley(smooth, bin, -1);
                auto [high, is_high] = valley(smooth, bin, 1);
                const double low_valley = std::min(smooth[low], smooth[high]),
                             high_valley = std::max(smooth[low], smooth[high]);
                const size_t end = high;
                while (high + 1 < smooth.size() && begin_of(high + 1) < begin_of(bin) + kAddition * shortest_s_ &&
                       smooth[high + 1] <= kRise * smooth[high] + kRiseEvents)
                    ++high;
                std::fill(is_seen.begin() + static_cast<std::ptrdiff_t>(low),
                          is_seen.begin() + static_cast<std::ptrdiff_t>(high) + 1, true);
                // A density that was smoothed over the shortest lengths measured says nothing of a valley there.
                if (!is_low || !is_high || 2 * low < 3 * (width - 1))
                    continue;
                Pile pile{{begin_of(low), begin_of(high + 1)}, 0, 0, 0};
                for (size_t each = low; each <= high; ++each)
                    pile.count += counts_[each];
                pile.expected = high_valley * static_cast<double>(end - low + 1);
                pile.others = low_valley * static_cast<double>(high - low + 1);
                if (pile.count < kLeastPile || pile.expected > kMostAround * pile.count ||
                    pile.count * std::log(pile.count / std::max(pile.expected, 1.0)) - pile.count + pile.expected <
                        kLeastEvidence ||
                    std::any_of(is_taken.begin() + static_cast<std::ptrdiff_t>(low),
                                is_taken.begin() + static_cast<std::ptrdiff_t>(end) + 1, [](bool taken) { return taken; }))
                    continue;
                std::fill(is_taken.begin() + static_cast<std::ptrdiff_t>(low),
                          is_taken.begin() + static_cast<std::ptrdiff_t>(end) + 1, true);
                found.push_back(pile);
            }
        }
        std::ranges::stable_sort(found, [](const Pile& a, const Pile& b) { return a.count > b.count; });
        return found;
    }

  private:
    static constexpr double kBin = 0.011, kValley = 0.05, kHighestValley = 0.15, kRise = 2, kRiseEvents = 6;

    size_t bin_of(double length_s) const { return static_cast<size_t>(std::log(length_s / least_s_) / kBin); }
    double begin_of(size_t bin) const { return least_s_ * std::exp(kBin * static_cast<double>(bin)); }

    std::vector<double> smoothed(size_t width) const { // losses of a bin, as the mean of `width` bins
        std::vector<double> before(counts_.size() + 1), result(counts_.size());
        for (size_t bin = 0; bin < counts_.size(); ++bin)
            before[bin + 1] = before[bin] + counts_[bin];
        for (size_t bin = 0; bin < counts_.size(); ++bin) {
            const size_t low = bin >= width / 2 ? bin - width / 2 : 0, high = std::min(counts_.size(), low + width);
            result[bin] = (before[high] - before[low]) / static_cast<double>(high - low);
        }
        return result;
    }

    // Where the density has fallen far below the top, or rises again; whether it is low enough there to be the end of a pile.
    // The shortest lengths that were measured are no end: what is below them is not known.
    static std::pair<size_t, bool> valley(const std::vector<double>& smooth, size_t top, int step) {
        size_t lowest = top;
        for (auto bin = static_cast<std::ptrdiff_t>(top);; bin += step) {
            if (bin < 0)
                return {lowest, false};
            if (bin >= static_cast<std::ptrdiff_t>(smooth.size()))
                return {smooth.size() - 1, true};
            const double density = smooth[static_cast<size_t>(bin)];
            if (density < smooth[lowest])
                lowest = static_cast<size_t>(bin);
            if (density <= kValley * smooth[top] || density > kRise * smooth[lowest] + kRiseEvents)
                return {lowest, smooth[lowest] <= kHighestValley * smooth[top]};
        }
    }

    std::vector<double> counts_;
    double least_s_ = INFINITY, most_s_ = 0, shortest_s_; // not explained; of what was measured
};

} // namespace

std::vector<Pile> length_piles(const LossStreams& streams) {
    return Piles(streams).all();
}

} // namespace plumb::noise
