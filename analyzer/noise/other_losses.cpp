#include "noise/other_losses.h"

#include "support/xorshift.h"

#include <algorithm>

namespace plumb::noise {

namespace {

// Calls take with the losses of a CPU that begin in a window of this length at a random moment, often.
template <class Take>
void sample_windows(const LossStreams& streams, double window_s, const std::vector<size_t>& cpus, Take take) {
    constexpr size_t kSamples = 4000;
    Xorshift random;
    const auto all = streams.streams(LossStreams::Level::cpu);
    for (size_t sample = 0; sample < kSamples && !cpus.empty(); ++sample) {
        const LossStream& cpu = all[cpus[random.next() % cpus.size()]];
        const double from_s = static_cast<double>(random.next() >> 11) * 0x1p-53 * streams.measured_s();
        const auto [first, end] = streams.begun_in(cpu, from_s, from_s + window_s);
        take(from_s, cpu, first, end);
    }
}

} // namespace

void subtract_others(const LossStreams& streams, model::NoiseDuration& duration, LengthBand own,
                     const std::vector<size_t>& cpus) {
    using Shape = model::NoiseDuration::Shape;
    if (duration.shape == Shape::exponential || duration.shape == Shape::measured)
        return; // the sum of both is what there is
    const bool is_constant = duration.shape == Shape::constant;
    own.least_s = is_constant ? duration.mean_s : std::max(own.least_s, duration.mean_s / 2);
    std::vector<double> sums_s;
    sample_windows(streams, own.least_s + streams.grain_s(), cpus,
                   [&](double, const LossStream&, uint32_t first, uint32_t end) {
                       sums_s.push_back(0);
                       for (uint32_t loss = first; loss < end; ++loss)
                           if (const double length_s = streams.length_s(loss); length_s < own.least_s)
                               sums_s.back() += length_s;
                   });
    if (sums_s.empty())
        return;
    // As the duration itself: the lower quartile of constant ones, else the mean, of sums that are not too long for the class.
    double added_s = 0;
    if (is_constant) {
        const auto place = sums_s.begin() + static_cast<std::ptrdiff_t>(sums_s.size() / 4);
        std::ranges::nth_element(sums_s, place);
        added_s = *place;
    } else {
        std::erase_if(sums_s, [&](double sum_s) { return duration.mean_s + sum_s > own.most_s; });
        for (const double sum_s : sums_s)
            added_s += sum_s / static_cast<double>(sums_s.size());
    }
    duration.mean_s = std::max(duration.mean_s / 2, duration.mean_s - added_s);
}

double share_undisturbed(const LossStreams& streams, LengthBand band, double length_s, const std::vector<size_t>& cpus) {
    size_t windows = 0, undisturbed = 0;
    const double disturbs_s = band.most_s - length_s;
    sample_windows(streams, length_s + streams.grain_s(), cpus,
                   [&](double from_s, const LossStream& cpu, uint32_t first, uint32_t end) {
                       ++windows;
                       const bool is_in_another = first > cpu.begin && streams.length_s(first - 1) > disturbs_s &&
                                   streams.begin_s(first - 1) + streams.length_s(first - 1) > from_s;
        double sum_s = 0;
        for (uint32_t loss = first; loss < end; ++loss)
            sum_s += streams.length_s(loss);
        undisturbed += !is_in_another && sum_s <= disturbs_s;
                   });
    return windows ? static_cast<double>(undisturbed) / static_cast<double>(windows) : 1;
}

} // namespace plumb::noise
