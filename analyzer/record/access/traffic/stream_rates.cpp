#include "record/access/traffic/stream_rates.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace plumb::record {

namespace {

constexpr size_t kFewestPairs = 4;
constexpr double kEven = 0.3;      // of the median: pairs that agree with it
constexpr double kLeastAgree = 0.5; // of the pairs
constexpr double kSameLoop = 0.15; // streams of a loop all make its rounds

struct Pair {
    Advance advance;
    double rounds_per_s;
};

double median_of(const std::vector<Pair>& pairs) {
    std::vector<double> rates;
    for (const Pair& pair : pairs)
        rates.push_back(pair.rounds_per_s);
    const auto middle = rates.begin() + static_cast<long>(rates.size() / 2);
    std::ranges::nth_element(rates, middle);
    return *middle;
}

void judge(const std::vector<Pair>& pairs, StreamRate& stream) {
    if (pairs.size() < kFewestPairs)
        return;
    const double median = median_of(pairs);
    if (median <= 0)
        return;
    double rounds = 0, time_s = 0;
    size_t agreeing = 0;
    for (const Pair& pair : pairs) {
        agreeing += std::abs(pair.rounds_per_s - median) <= kEven * median;
        // Slower ones count: a hypervisor had the CPU, or memory was busy. Backwards and too far is a new beginning.
        if (pair.rounds_per_s <= 0 || pair.rounds_per_s > (1 + kEven) * median)
            continue;
        const double seconds = static_cast<double>(pair.advance.end_ns - pair.advance.begin_ns) * 1e-9;
        rounds += pair.rounds_per_s * seconds;
        time_s += seconds;
        stream.advances.push_back(pair.advance);
    }
    if (static_cast<double>(agreeing) < kLeastAgree * static_cast<double>(pairs.size())) {
        stream.advances.clear();
        return;
    }
    stream.rounds_per_s = rounds / time_s;
}

// Where the stream was at a moment, between two samples that agree; false: it was not looked at then.
bool address_at(const StreamRate& stream, uint64_t time_ns, double& address) {
    const auto after = std::ranges::upper_bound(stream.advances, time_ns, {}, &Advance::begin_ns);
    if (after == stream.advances.begin() || std::prev(after)->end_ns < time_ns)
        return false;
    const Advance& advance = *std::prev(after);
    const double part = static_cast<double>(time_ns - advance.begin_ns) /
                        static_cast<double>(std::max<uint64_t>(advance.end_ns - advance.begin_ns, 1));
    address = static_cast<double>(advance.from) +
              part * static_cast<double>(static_cast<int64_t>(advance.to - advance.from));
    return true;
}

} // namespace

std::vector<LoopRate> loop_rates(std::span<const LoopSample> samples, uint64_t longest_gap_ns) {
    struct Seen {
        LoopRate rate;
        std::map<uint64_t, std::pair<StreamRate, std::vector<Pair>>> streams; // by instruction
    };
    std::map<uint64_t, Seen> loops; // by the beginning of the loop
    const LoopSample* before = nullptr;
    for (const LoopSample& sample : samples) {
        if (sample.begin == 0) {
            before = &sample;
            continue;
        }
        Seen& seen = loops[sample.begin];
        seen.rate.begin = sample.begin;
        seen.rate.end = std::max(seen.rate.end, sample.end);
        ++seen.rate.samples;
        const bool ran_on = before && sample.time_ns > before->time_ns &&
                            sample.time_ns - before->time_ns <= longest_gap_ns;
        const bool follows = ran_on && before->begin == sample.begin;
        if (ran_on)
            seen.rate.time_ns += sample.time_ns - before->time_ns;
        for (const StreamPosition& position : sample.positions) {
            auto& [stream, pairs] = seen.streams[position.instruction];
            stream.position = position;
            if (!follows)
                continue;
            const auto earlier = std::ranges::lower_bound(before->positions, position.instruction, {},
                                                          &StreamPosition::instruction);
            if (earlier == before->positions.end() || earlier->instruction != position.instruction ||
                earlier->round != position.round)
                continue;
            const double moved = static_cast<double>(static_cast<int64_t>(position.address - earlier->address));
            const double seconds = static_cast<double>(sample.time_ns - before->time_ns) * 1e-9;
            pairs.push_back({{before->time_ns, sample.time_ns, earlier->address, position.address},
                             moved / static_cast<double>(position.round) / seconds});
        }
        before = &sample;
    }
    std::vector<LoopRate> rates;
    for (auto& [begin, seen] : loops) {
        LoopRate& rate = seen.rate;
        for (auto& [instruction, stream] : seen.streams) {
            judge(stream.second, stream.first);
            // One that begins anew between two samples seems slower than it is, never faster.
            rate.rounds_per_s = std::max(rate.rounds_per_s, stream.first.rounds_per_s);
            rate.streams.push_back(std::move(stream.first));
        }
        for (StreamRate& stream : rate.streams)
            stream.streams = stream.rounds_per_s > 0 &&
                             stream.rounds_per_s >= (1 - kSameLoop) * rate.rounds_per_s;
        rates.push_back(std::move(rate));
    }
    return rates;
}

void find_sharers(std::span<std::vector<LoopRate>> threads) {
    // By instruction: the same code in the same process.
    std::map<uint64_t, std::vector<StreamRate*>> same;
    for (std::vector<LoopRate>& loops : threads)
        for (LoopRate& loop : loops)
            for (StreamRate& stream : loop.streams)
                if (stream.streams)
                    same[stream.position.instruction].push_back(&stream);
    for (const auto& [instruction, streams] : same)
        for (StreamRate* stream : streams) {
            double met = 0;
            for (const Advance& advance : stream->advances) {
                const uint64_t middle_ns = advance.begin_ns + (advance.end_ns - advance.begin_ns) / 2;
                const double moved = static_cast<double>(static_cast<int64_t>(advance.to - advance.from));
                const double here = static_cast<double>(advance.from) + moved / 2;
                for (const StreamRate* other : streams) {
                    double there = 0;
                    if (other != stream && address_at(*other, middle_ns, there) &&
                        std::abs(there - here) < std::abs(moved) / 2)
                        met += 1;
                }
            }
            if (!stream->advances.empty())
                stream->sharers = 1 + met / static_cast<double>(stream->advances.size());
        }
}

} // namespace plumb::record
