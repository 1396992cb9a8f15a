#include "replay/messages/transfer_fit.h"

#include "replay/events/medians.h"

#include <array>
#include <bit>
#include <cmath>

namespace plumb::replay {

namespace {

constexpr size_t kLeastMessages = 5; // of an octave of sizes
constexpr size_t kOctaves = 65;
constexpr double kLeastLatency_s = 1e-6; // less is below what clocks of several CPUs tell
constexpr double kLeastRatio = 4;    // of two sizes whose difference is to tell the bandwidth

struct Octave {
    std::vector<double> sizes, times_s;
};

struct Point {
    double bytes, time_s;
};

model::MpiTransferFit fit(const std::array<Octave, kOctaves>& octaves) {
    model::MpiTransferFit result;
    std::vector<Point> points;
    for (const Octave& octave : octaves)
        if (octave.times_s.size() >= kLeastMessages) {
            std::vector<double> sizes = octave.sizes, times_s = octave.times_s;
            points.push_back({median(sizes), median(times_s)});
            result.messages += octave.times_s.size();
        }
    if (points.empty())
        return result;
    std::vector<double> slopes;
    for (const Point& small : points)
        for (const Point& large : points)
            if (large.bytes > kLeastRatio * small.bytes)
                slopes.push_back(std::max(0.0, (large.time_s - small.time_s) / (large.bytes - small.bytes)));
    result.seconds_per_byte = median(slopes);
    std::vector<double> latencies;
    for (const Point& point : points)
        latencies.push_back(std::max(0.0, point.time_s - result.seconds_per_byte * point.bytes));
    // The smallest messages tell the latency; in the largest it drowns.
    latencies.resize(std::min<size_t>(latencies.size(), 1 + latencies.size() / 2));
    result.latency_s = median(latencies);
    std::vector<double> distances;
    for (const Octave& octave : octaves)
        for (size_t i = 0; i < octave.times_s.size(); ++i)
            distances.push_back(std::abs(octave.times_s[i] - result.latency_s - result.seconds_per_byte * octave.sizes[i]));
    result.spread_s = median(distances);
    // Times that scatter by more than they are tell of waiting for something else.
    result.known = result.spread_s <= std::max(result.latency_s, kLeastLatency_s);
    if (!result.known)
        result.latency_s = result.seconds_per_byte = 0;
    return result;
}

} // namespace

TransferFits fit_transfers(const Job& job, const MatchedMessages& messages) {
    std::array<Octave, kOctaves> within, between;
    for (const LateSender& wait : messages.late_senders) {
        const bool same_host = job.ranks[wait.sender].host == job.ranks[wait.receiver].host;
        if (same_host && wait.is_mixed)
            continue; // it waited on, for what came from another host
        Octave& octave = (same_host ? within : between)[static_cast<size_t>(std::bit_width(wait.bytes))];
        octave.sizes.push_back(static_cast<double>(wait.bytes));
        octave.times_s.push_back(seconds(std::max<Nanoseconds>(0, wait.transfer)));
    }
    return {fit(within), fit(between)};
}

} // namespace plumb::replay
