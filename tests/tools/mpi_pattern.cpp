#include "mpi_pattern.h"

#include "support/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace plumb::tools {

namespace {

// A number in [0, 1) that depends on all of its arguments and on nothing else.
double drawn(uint64_t seed, uint64_t a, uint64_t b) {
    uint64_t bits = seed * 0x9e3779b97f4a7c15u + a * 0xd1b54a32d192ed03u + b * 0x8cb92ba72f3d8dd7u;
    for (int round = 0; round < 2; ++round) {
        bits ^= bits >> 31;
        bits *= 0x94d049bb133111ebu;
        bits ^= bits >> 29;
        bits += 0x2545f4914f6cdd1du;
    }
    return static_cast<double>(bits >> 11) * 0x1p-53;
}

constexpr uint64_t kJitterStream = 0, kFirstNoiseStream = 1;

void check(const MpiPattern& pattern) {
    if (pattern.ranks < 1 || pattern.ranks_per_node < 1)
        throw Error("a job has at least one rank, and at least one on each node");
    if (pattern.block > 0 && (pattern.ranks % pattern.ranks_per_node != 0 || pattern.ranks_per_node % pattern.block != 0))
        throw Error(fmt::format("blocks of {} do not fill nodes of {} with {} ranks", pattern.block, pattern.ranks_per_node, pattern.ranks));
    if (pattern.halo_bytes > 0 && pattern.ranks < 3)
        throw Error("a halo exchange with two neighbours takes at least three ranks");
    for (const LateRank& late : pattern.late)
        if (late.rank < 0 || late.rank >= pattern.ranks)
            throw Error(fmt::format("there is no rank {} to be late: the job has {}", late.rank, pattern.ranks));
    for (const NoiseClass& noise : pattern.noise)
        if (!(noise.period_s > 0) || !(noise.length_s >= 0) || noise.length_s >= noise.period_s || noise.of_nodes < 1)
            throw Error(fmt::format("noise of {} s every {} s on one of {} nodes is not possible", noise.length_s,
                                    noise.period_s, noise.of_nodes));
}

} // namespace

MpiTimes::MpiTimes(MpiPattern pattern) : pattern_(std::move(pattern)) {
    check(pattern_);
    const auto ranks = static_cast<size_t>(pattern_.ranks);
    extra_.resize(ranks);
    for (const LateRank& late : pattern_.late)
        extra_[static_cast<size_t>(late.rank)] += late.extra;
    truth_.times_last.resize(ranks);
    std::vector<double> ready_s(ranks);
    for (uint64_t collective = 0; collective < pattern_.collectives; ++collective) {
        const double begin = begin_s(collective);
        for (size_t rank = 0; rank < ranks; ++rank)
            ready_s[rank] = this->ready_s(static_cast<int>(rank), collective, begin);
        size_t last = 0;
        double last_s = 0, sum_s = 0;
        for (size_t rank = 0; rank < ranks; ++rank) {
            Cycle cycle{.begin_s = begin, .ready_s = ready_s[rank]};
            const int own = static_cast<int>(rank);
            exchange(cycle, own, ready_s[static_cast<size_t>(left_of(own))], ready_s[static_cast<size_t>(right_of(own))]);
            if (pattern_.halo_bytes > 0) {
                const double left_sent = ready_s[static_cast<size_t>(left_of(own))] + pattern_.send_s;
                const double right_sent = ready_s[static_cast<size_t>(right_of(own))];
                truth_.late_sender_s += std::max(0.0, left_sent - cycle.halo.receive_s[0]) +
                                        std::max(0.0, right_sent - cycle.halo.receive_s[1]);
            }
            sum_s += cycle.arrival_s;
            if (cycle.arrival_s > last_s) {
                last_s = cycle.arrival_s;
                last = rank;
            }
        }
        const auto count = static_cast<double>(ranks);
        truth_.times_last[last]++;
        truth_.wait_s += last_s * count - sum_s;
        truth_.imbalance_s += last_s - sum_s / count;
        truth_.operation_s += pattern_.operation_s * count;
        ends_s_.push_back(last_s + pattern_.operation_s);
    }
    truth_.elapsed_s = ends_s_.empty() ? 0 : ends_s_.back();
}

Cycle MpiTimes::cycle(int rank, uint64_t collective) const {
    Cycle cycle{.begin_s = begin_s(collective)};
    cycle.ready_s = ready_s(rank, collective, cycle.begin_s);
    if (pattern_.halo_bytes > 0)
        exchange(cycle, rank, ready_s(left_of(rank), collective, cycle.begin_s),
                 ready_s(right_of(rank), collective, cycle.begin_s));
    else
        exchange(cycle, rank, 0, 0);
    cycle.end_s = ends_s_[collective];
    return cycle;
}

// Sends are eager; the receive from the left comes first.
void MpiTimes::exchange(Cycle& cycle, int rank, double left_ready_s, double right_ready_s) const {
    cycle.arrival_s = cycle.ready_s;
    if (pattern_.halo_bytes == 0)
        return;
    const int peers[2] = {left_of(rank), right_of(rank)};
    const double sent_s[2] = {left_ready_s + pattern_.send_s, right_ready_s}; // they send to their left first, too
    double now_s = cycle.ready_s;
    for (int side = 0; side < 2; ++side) {
        cycle.halo.send_s[side] = now_s;
        cycle.halo.send_end_s[side] = now_s += pattern_.send_s;
    }
    for (int side = 0; side < 2; ++side) {
        cycle.halo.receive_s[side] = now_s;
        cycle.halo.receive_end_s[side] = now_s = std::max(now_s, sent_s[side]) + transfer_s(rank, peers[side]);
    }
    cycle.arrival_s = now_s;
}

double MpiTimes::transfer_s(int rank, int peer) const {
    const bool is_within = pattern_.within_latency_s >= 0 && pattern_.node_of(rank) == pattern_.node_of(peer);
    return (is_within ? pattern_.within_latency_s : pattern_.latency_s) + static_cast<double>(pattern_.halo_bytes) / pattern_.bytes_per_s;
}

double MpiTimes::ready_s(int rank, uint64_t collective, double begin_s) const {
    double compute_s = pattern_.compute_s * (1 + extra_[static_cast<size_t>(rank)]);
    if (pattern_.jitter > 0)
        compute_s += pattern_.compute_s * pattern_.jitter *
                     (2 * drawn(pattern_.seed, kJitterStream + static_cast<uint64_t>(rank) * 2, collective) - 1);
    for (size_t which = 0; which < pattern_.noise.size(); ++which)
        compute_s += noise_s(pattern_.noise[which], which, rank, begin_s, compute_s);
    return begin_s + compute_s;
}

// Events that begin while the rank computes; each makes that time longer. Nodes are out of step with one another.
double MpiTimes::noise_s(const NoiseClass& noise, size_t which, int rank, double begin_s, double compute_s) const {
    const int node = pattern_.node_of(rank);
    if (noise.rank >= 0 ? rank != noise.rank : node % noise.of_nodes != noise.node)
        return 0;
    const uint64_t stream = kFirstNoiseStream + 2 * (which * (1u << 24) + static_cast<uint64_t>(node));
    const double phase_s = drawn(pattern_.seed, stream, 0) * noise.period_s;
    double extra_s = 0;
    auto event = static_cast<uint64_t>(std::max(0.0, std::ceil((begin_s - phase_s) / noise.period_s)));
    for (; phase_s + static_cast<double>(event) * noise.period_s < begin_s + compute_s + extra_s; ++event) {
        const auto turn = static_cast<int>(event % static_cast<uint64_t>(pattern_.ranks_per_node));
        if (noise.rank < 0 && turn != pattern_.place_on_node(rank))
            continue;
        const double scale = noise.exponential ? -std::log1p(-drawn(pattern_.seed, stream, event + 1)) : 1;
        extra_s += noise.length_s * scale;
    }
    return extra_s;
}

} // namespace plumb::tools
