#include "record/access/replay/loop_moments.h"

#include "record/access/replay/access_layout.h"
#include "support/magnitude.h"
#include "support/memory_units.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace plumb::record {

namespace {

constexpr uint64_t kEnoughSamples = 8; // of an instruction, before its loop is looked at
constexpr size_t kMostMoments = 8, kMostPairs = 64, kMostLoops = 128, kMostThreads = 1 << 12;
constexpr uint64_t kLeastTime = 100; // 1/100 of the sampled time: loops with less are not run again
constexpr uint64_t kMostRounds = 1 << 20, kLikelyRounds = 64;
constexpr uint64_t kFewRounds = 32, kFewVisits = 4; // a sweep of short visits to many places is not run again

} // namespace

uint64_t MomentsOfLoop::sweep_rounds() const {
    uint64_t rounds = rounds_at_once;
    for (size_t i = 0; i < moments.front().accesses.size(); ++i) {
        const auto [low, high] = std::ranges::minmax(moments, {}, [i](const auto& moment) { return moment.accesses[i].address; });
        const LoopAccess& access = low.accesses[i];
        if (access.round != 0)
            rounds = std::max(rounds, (high.accesses[i].address - access.address) / magnitude(access.round) + 1);
    }
    return std::clamp<uint64_t>(rounds, rounds_at_once ? 1 : kLikelyRounds, kMostRounds);
}

uint64_t MomentsOfLoop::footprint_bytes() const {
    uint64_t bytes = 0;
    for (const AccessGroup& group : groups_of(moments.front().accesses))
        bytes += std::max<uint64_t>(magnitude(group.round) * sweep_rounds(), kLine);
    return bytes;
}

LoopMoments::LoopMoments(AccessSampling& code, ProcessTable& processes)
    : instructions_(code, processes, kEnoughSamples, [this](uint32_t pid, const auto& places) { judge(pid, places); }) {}

void LoopMoments::take(const PerfRecord& sample, uint64_t weight_ns) {
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

void LoopMoments::count_rounds(const Last& before, const PerfRecord& sample, const shim::Registers& registers,
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
uint64_t LoopMoments::round_ps(const Instructions::OfProgram& places, const MomentsOfLoop& candidate) {
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

void LoopMoments::judge(uint32_t pid, const Instructions::OfProgram& places) {
    std::map<uint64_t, MomentsOfLoop> loops; // by beginning
    std::map<uint64_t, uint64_t> most;        // samples of the instruction whose moments are taken
    for (const auto& [address, place] : places) {
        if (place.moments.empty())
            continue;
        const uint64_t begin = place.code->loop->begin(address);
        MomentsOfLoop& loop = loops[begin];
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
        // Rounds that follow one another in the replay, but not in the program, would access what others just stored.
        if (loop.rounds_at_once > 0 && loop.rounds_at_once <= kFewRounds && loop.sweep_rounds() > kFewVisits * loop.rounds_at_once)
            continue;
        if (loops_.size() >= kMostLoops || loop.time_ns * kLeastTime < instructions_.total_ns())
            continue;
        loop.round_ps = round_ps(places, loop);
        loops_.push_back(std::move(loop));
    }
}

std::vector<MomentsOfLoop> LoopMoments::take_all() {
    instructions_.forget_all();
    std::erase_if(loops_, [&](const MomentsOfLoop& loop) { return loop.time_ns * kLeastTime < instructions_.total_ns(); });
    std::ranges::stable_sort(loops_, std::greater{}, &MomentsOfLoop::time_ns);
    return std::move(loops_);
}

} // namespace plumb::record
