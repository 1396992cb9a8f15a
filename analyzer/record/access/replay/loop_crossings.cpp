#include "record/access/replay/loop_crossings.h"

#include "record/access/replay/access_layout.h"
#include "record/access/replay/loop_replay.h"
#include "support/magnitude.h"
#include "support/memory_units.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <iterator>

namespace plumb::record {

namespace {

constexpr uint64_t kEnoughSamples = 8; // of an instruction, before its loop is looked at
constexpr size_t kMostMoments = 8, kMostPairs = 64, kMostCandidates = 64, kMostThreads = 1 << 12;
constexpr size_t kMostReplays = 3;          // moments of one loop that differ in how far they lie from alignment
constexpr uint64_t kLeastTime = 100;        // 1/100 of the sampled time: loops with less are not replayed
constexpr uint64_t kReplay_ns = 3'000'000;  // of one moment of one loop, about
constexpr uint64_t kMostTime_ns = 200'000'000, kLeastTime_ns = 6'000'000;
constexpr uint64_t kMostRounds = 1 << 20, kLikelyRounds = 64;
constexpr uint64_t kFewRounds = 32, kFewVisits = 4; // a sweep of short visits to many places is not replayed

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

// Of a sweep over its memory, as far as samples saw it.
uint64_t sweep_rounds(const std::vector<ReplayableLoop::Moment>& moments, uint64_t rounds_at_once) {
    uint64_t rounds = rounds_at_once;
    for (size_t i = 0; i < moments.front().accesses.size(); ++i) {
        const auto [low, high] = std::ranges::minmax(moments, {}, [i](const auto& moment) { return moment.accesses[i].address; });
        const LoopAccess& access = low.accesses[i];
        if (access.round != 0)
            rounds = std::max(rounds, (high.accesses[i].address - access.address) / magnitude(access.round) + 1);
    }
    return std::clamp<uint64_t>(rounds, rounds_at_once ? 1 : kLikelyRounds, kMostRounds);
}

} // namespace

LoopCrossings::LoopCrossings(AccessSampling& code, ProcessTable& processes)
    : instructions_(code, processes, kEnoughSamples, [this](uint32_t pid, const auto& places) { judge(pid, places); }) {}

void LoopCrossings::take(const PerfRecord& sample, uint64_t weight_ns) {
    const auto thread = last_.find(sample.tid);
    if (thread != last_.end())
        thread->second.cpu_ns += weight_ns;
    if (sample.register_abi != PERF_SAMPLE_REGS_ABI_64 || sample.registers.size() != kDwarfNumbers.size())
        return;
    Instructions::Instruction* sampled = instructions_.take(sample, weight_ns);
    if (!sampled || !sampled->code || !sampled->code->loop)
        return;
    Instructions::Instruction& place = *sampled;
    shim::Registers registers{};
    for (size_t i = 0; i < kDwarfNumbers.size(); ++i)
        registers[kDwarfNumbers[i]] = sample.registers[i];
    if (last_.size() >= kMostThreads)
        last_.clear();
    Last& last = last_[sample.tid];
    if (last.generation == place.generation)
        count_rounds(last, sample, registers, place);
    last.cpu_ns = 0;
    last.time_ns = sample.time_ns;
    last.generation = place.generation;
    last.address = sample.address;
    std::copy(std::begin(registers), std::end(registers), last.registers.begin());

    auto moment = place.code->loop->at(sample.address, registers);
    if (!moment)
        return;
    place.rounds_left = std::max(place.rounds_left, moment->rounds_left);
    const uint64_t random = random_.next(); // an even choice of all moments (Vitter's algorithm R)
    if (place.moments.size() < kMostMoments)
        place.moments.push_back(std::move(*moment));
    else if (const uint64_t slot = random % place.samples; slot < kMostMoments)
        place.moments[slot] = std::move(*moment);
}

void LoopCrossings::count_rounds(const Last& before, const PerfRecord& sample, const shim::Registers& registers,
                                 Instructions::Instruction& place) {
    if (before.registers[shim::kStackPointer] != registers[shim::kStackPointer] || sample.time_ns <= before.time_ns)
        return; // another call of the function
    place.counted.resize(place.code->counters.size());
    for (size_t i = 0; i < place.counted.size(); ++i) {
        const LoopCounter& counter = place.code->counters[i];
        const int64_t distance = static_cast<int64_t>(before.address - sample.address);
        if (distance < counter.begin || distance > counter.end || place.counted[i].size() >= kMostPairs)
            continue;
        place.counted[i].push_back({counter.rounds(before.registers[static_cast<size_t>(counter.reg)], registers[counter.reg]),
                                    sample.time_ns - before.time_ns, before.cpu_ns});
    }
}

// Of one round of the loop: by its own counter, or by that of the loop around it, which makes `rounds_at_once` of them.
uint64_t LoopCrossings::round_ps(const Instructions::OfProgram& places, const Candidate& candidate) {
    std::map<uint64_t, std::pair<uint64_t, std::vector<RoundPair>>> loops; // by length of the loop: its beginning
    for (const auto& [address, place] : places) {
        if (address < candidate.begin || address > candidate.end)
            continue;
        for (size_t i = 0; i < place.counted.size(); ++i) {
            const LoopCounter& counter = place.code->counters[i];
            // Only the loop right around it: further out it is not known how often that one is come to.
            if (counter.level > 1)
                continue;
            const uint64_t begin = address + static_cast<uint64_t>(counter.begin),
                           length = static_cast<uint64_t>(counter.end - counter.begin);
            auto& [loop_begin, pairs] = loops[length];
            loop_begin = begin;
            pairs.insert(pairs.end(), place.counted[i].begin(), place.counted[i].end());
        }
    }
    for (const auto& [length, loop] : loops) {
        const auto& [begin, pairs] = loop;
        const bool is_own = begin == candidate.begin && begin + length == candidate.end;
        if (!is_own && candidate.rounds_at_once == 0)
            continue;
        const double around_ps = round_time_ps(pairs);
        if (around_ps <= 0)
            continue;
        if (is_own)
            return static_cast<uint64_t>(around_ps);
        uint64_t around_ns = 0; // of all samples in the loop around it
        for (const auto& [address, place] : places)
            if (address >= begin && address <= begin + length)
                around_ns += place.time_ns;
        if (around_ns == 0)
            continue;
        const double part = std::min(1.0, static_cast<double>(candidate.time_ns) / static_cast<double>(around_ns));
        return static_cast<uint64_t>(around_ps * part / static_cast<double>(candidate.rounds_at_once));
    }
    return 0;
}

void LoopCrossings::judge(uint32_t pid, const Instructions::OfProgram& places) {
    std::map<uint64_t, Candidate> loops; // by beginning
    std::map<uint64_t, uint64_t> most;   // samples of the instruction whose moments are taken
    for (const auto& [address, place] : places) {
        if (place.moments.empty())
            continue;
        const uint64_t begin = place.code->loop->begin(address);
        Candidate& loop = loops[begin];
        loop.pid = pid;
        loop.begin = begin;
        loop.end = place.code->loop->end(address);
        loop.rounds_at_once = std::max(loop.rounds_at_once, place.rounds_left);
        if (place.samples > most[begin]) {
            most[begin] = place.samples;
            loop.code = place.code;
            loop.moments = place.moments;
        }
    }
    for (auto& [begin, loop] : loops) {
        loop.first_ns = UINT64_MAX;
        for (const auto& [address, place] : places)
            if (address >= loop.begin && address <= loop.end) {
                loop.samples += place.samples;
                loop.time_ns += place.time_ns;
                loop.first_ns = std::min(loop.first_ns, place.first_ns);
                loop.last_ns = std::max(loop.last_ns, place.last_ns);
            }
        const uint64_t rounds = sweep_rounds(loop.moments, loop.rounds_at_once);
        // Rounds that follow one another in the replay, but not in the program, would access what others just stored.
        if (loop.rounds_at_once > 0 && loop.rounds_at_once <= kFewRounds && rounds > kFewVisits * loop.rounds_at_once)
            continue;
        if (candidates_.size() >= kMostCandidates || loop.time_ns * kLeastTime < instructions_.total_ns() ||
            std::ranges::none_of(loop.moments, [&](const auto& moment) { return crosses_somewhere(moment, rounds); }))
            continue;
        loop.round_ps = round_ps(places, loop);
        candidates_.push_back(std::move(loop));
    }
}

void LoopCrossings::replay(const Candidate& loop, uint32_t number, NodeTraceWriter& file) const {
    const uint64_t rounds = sweep_rounds(loop.moments, loop.rounds_at_once);
    std::vector<const ReplayableLoop::Moment*> chosen;
    bool steady = true;
    for (const ReplayableLoop::Moment& moment : loop.moments) {
        steady &= phases_of(moment) == phases_of(loop.moments.front());
        if (chosen.size() < kMostReplays &&
            std::ranges::none_of(chosen, [&](const auto* other) { return phases_of(*other) == phases_of(moment); }))
            chosen.push_back(&moment);
    }
    ReplayedLoop sum;
    uint64_t replayed = 0;
    for (const ReplayableLoop::Moment* moment : chosen) {
        const ReplayedLoop time = replay_loop(loop.code->loop->instructions(), moment->accesses, rounds, loop.round_ps);
        if (time.seen_ps == 0 || time.aligned_ps == 0)
            continue;
        sum.seen_ps += time.seen_ps;
        sum.aligned_ps += time.aligned_ps;
        sum.spread_ps = std::max(sum.spread_ps, time.spread_ps);
        ++replayed;
    }
    uint64_t footprint = 0;
    for (const AccessGroup& group : groups_of(loop.moments.front().accesses))
        footprint += std::max<uint64_t>(magnitude(group.round) * rounds, kLine);
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
        record.aligned_ps = replayed ? sum.aligned_ps / replayed : 0;
        record.spread_ps = sum.spread_ps;
        record.round_ps = loop.round_ps;
        record.rounds_at_once = loop.rounds_at_once;
        record.footprint_bytes = footprint;
        record.first_ns = loop.first_ns;
        record.last_ns = loop.last_ns;
        file.append(trace::RecordType::ReplayedAccess, 0, record);
    }
}

void LoopCrossings::write(NodeTraceWriter& file, Calibration& calibration) {
    instructions_.forget_all();
    std::ranges::stable_sort(candidates_, std::greater{}, &Candidate::time_ns);
    const uint64_t allowed_ns = std::clamp(calibration.left_ns(), kLeastTime_ns, kMostTime_ns);
    uint64_t spent_ns = 0;
    uint32_t number = 0;
    for (const Candidate& candidate : candidates_) {
        if (candidate.time_ns * kLeastTime < instructions_.total_ns() || spent_ns + kReplay_ns > allowed_ns)
            break;
        const uint64_t begin_ns = monotonic_ns();
        replay(candidate, ++number, file);
        spent_ns += monotonic_ns() - begin_ns;
    }
    candidates_.clear();
}

} // namespace plumb::record
