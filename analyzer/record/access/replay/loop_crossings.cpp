#include "record/access/replay/loop_crossings.h"

#include "record/access/replay/access_layout.h"
#include "record/access/replay/loop_replay.h"
#include "support/magnitude.h"
#include "support/memory_units.h"

#include <plumb/trace_format.h>

#include <algorithm>

namespace plumb::record {

namespace {

constexpr size_t kMostReplays = 3;         // moments of one loop that differ in how far they lie from alignment
constexpr uint64_t kReplay_ns = 3'000'000; // of one moment of one loop, about

bool crosses_somewhere(const ReplayableLoop::Moment& moment, uint64_t rounds) {
    return std::ranges::any_of(moment.accesses,
                               [&](const LoopAccess& access) { return crossing_share(access, rounds, kLine) > 0; });
}

// How far each access lies from its alignment; 0 where that changes from round to round.
std::vector<uint64_t> phases_of(const ReplayableLoop::Moment& moment) {
    std::vector<uint64_t> phases;
    for (const LoopAccess& access : moment.accesses) {
        const uint64_t width = std::clamp<uint64_t>(access.width, 1, kLine);
        phases.push_back(magnitude(access.round) % width == 0 ? access.address % width : 0);
    }
    return phases;
}

void replay(const MomentsOfLoop& loop, uint64_t rounds, uint32_t number, NodeTraceWriter& file) {
    std::vector<const ReplayableLoop::Moment*> chosen;
    bool steady = true;
    for (const ReplayableLoop::Moment& moment : loop.moments) {
        steady &= phases_of(moment) == phases_of(loop.moments.front());
        if (chosen.size() < kMostReplays &&
            std::ranges::none_of(chosen, [&](const auto* other) { return phases_of(*other) == phases_of(moment); }))
            chosen.push_back(&moment);
    }
    ReplayedPair sum;
    uint64_t replayed = 0;
    for (const ReplayableLoop::Moment* moment : chosen) {
        const ReplayedPair time = replay_aligned(loop.instructions(), moment->accesses, rounds, loop.round_ps);
        if (time.seen_ps == 0 || time.other_ps == 0)
            continue;
        sum.seen_ps += time.seen_ps;
        sum.other_ps += time.other_ps;
        sum.spread_ps = std::max(sum.spread_ps, time.spread_ps);
        ++replayed;
    }
    for (size_t i = 0; i < loop.moments.front().accesses.size(); ++i) {
        double lines = 0, pages = 0;
        for (const ReplayableLoop::Moment& moment : loop.moments) {
            lines += crossing_share(moment.accesses[i], rounds, kLine);
            pages += crossing_share(moment.accesses[i], rounds, kPage);
        }
        if (lines <= 0)
            continue;
        const LoopAccess& access = loop.moments.back().accesses[i];
        const auto parts = [&](double of_all) { return static_cast<uint64_t>(1e6 * of_all / static_cast<double>(loop.moments.size())); };
        trace::ReplayedAccess record{};
        record.pid = loop.pid;
        record.flags = access.flags;
        record.address = access.instruction;
        record.width = access.width;
        record.steady = steady;
        record.loop = number;
        record.loop_begin = loop.begin;
        record.loop_end = loop.end;
        record.samples = loop.samples;
        record.time_ns = loop.time_ns;
        record.round = access.round;
        record.line_ppm = parts(lines);
        record.page_ppm = parts(pages);
        record.last_address = access.address;
        record.seen_ps = replayed ? sum.seen_ps / replayed : 0;
        record.aligned_ps = replayed ? sum.other_ps / replayed : 0;
        record.spread_ps = sum.spread_ps;
        record.round_ps = loop.round_ps;
        record.rounds_at_once = loop.rounds_at_once;
        record.footprint_bytes = loop.footprint_bytes();
        record.first_ns = loop.first_ns;
        record.last_ns = loop.last_ns;
        file.append(trace::RecordType::ReplayedAccess, 0, record);
    }
}

} // namespace

void write_crossings(std::span<const MomentsOfLoop> loops, uint64_t allowed_ns, NodeTraceWriter& file) {
    const uint64_t begin_ns = monotonic_ns();
    uint32_t number = 0;
    for (const MomentsOfLoop& loop : loops) {
        const uint64_t rounds = loop.sweep_rounds();
        if (std::ranges::none_of(loop.moments, [&](const auto& moment) { return crosses_somewhere(moment, rounds); }))
            continue;
        if (monotonic_ns() - begin_ns + kReplay_ns > allowed_ns)
            break;
        replay(loop, rounds, ++number, file);
    }
}

} // namespace plumb::record
