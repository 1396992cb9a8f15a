#include "record/access/loops/loop_counter.h"

#include "record/access/code/register_step.h"
#include "record/access/code/register_use.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace plumb::record {

namespace {

constexpr size_t kMostCounted = 1024, kMostLoops = 3;

struct Place {
    uint64_t address = 0;
    shim::MemoryInstruction instruction;
    Jump jump;
};

// From the first to the last instruction; empty: some do not decode, or they are too many.
std::vector<Place> places_of(const CodeRegion& code, const CodeRegion::Loop& loop) {
    std::vector<Place> places;
    for (uint64_t address = loop.head; address <= loop.jump;) {
        Place place{address, {}, {}};
        if (places.size() >= kMostCounted || !code.decode_at(address, &place.instruction))
            return {};
        place.jump = jump_at(address, code.bytes_at(address).first(place.instruction.length));
        address += place.instruction.length;
        places.push_back(place);
    }
    return places;
}

// Every round comes to `address` exactly once.
bool is_met_once(const std::vector<Place>& places, const CodeRegion::Loop& loop, uint64_t address) {
    return std::ranges::none_of(places, [&](const Place& place) {
        const uint64_t target = place.jump.target;
        if (target == 0 || place.address == loop.jump)
            return false;
        const bool skips = place.address < address && target > address && target <= loop.jump;
        const bool begins_anew = place.address < address && target == loop.head;
        const bool repeats = target > loop.head && target <= address && place.address >= address;
        return skips || begins_anew || repeats;
    });
}

std::optional<LoopCounter> counter_of(const CodeRegion& code, const CodeRegion::Loop& loop, uint64_t sampled) {
    const std::vector<Place> places = places_of(code, loop);
    uint32_t changed = 0, changed_again = 0;
    for (const Place& place : places) {
        const bool calls = place.instruction.branch && place.jump.target == 0;
        const uint32_t own = place.instruction.overwritten | (calls ? kCallerSaved : 0);
        changed_again |= changed & own;
        changed |= own;
    }
    for (const Place& place : places) {
        const RegisterStep step = register_step(code.bytes_at(place.address).first(place.instruction.length));
        if (step.changed < 0 || step.changed == shim::kStackPointer || (changed_again >> step.changed & 1) ||
            step.value.first != step.changed || step.value.first_factor != 1 || step.value.second >= 0 ||
            step.value.constant == 0 || !is_met_once(places, loop, place.address))
            continue;
        return LoopCounter{static_cast<int64_t>(loop.head - sampled), static_cast<int64_t>(loop.jump - sampled),
                           step.value.constant, step.changed, step.value.narrow, 0};
    }
    return std::nullopt;
}

} // namespace

uint64_t LoopCounter::rounds(uint64_t first, uint64_t second) const {
    const uint64_t moved = second - first;
    const int64_t way = narrow ? static_cast<int32_t>(static_cast<uint32_t>(moved)) : static_cast<int64_t>(moved);
    return way % step == 0 && way / step > 0 ? static_cast<uint64_t>(way / step) : 0;
}

// A thread that shares its CPU is sampled at uneven distances, of which only the mean is known: that of its samples. One that
// keeps its CPU is not, and there the clock is the better measure.
double round_time_ps(const std::vector<RoundPair>& pairs) {
    constexpr size_t kFewest = 6;
    constexpr uint64_t kFewestRounds = 8; // fewer may be those of a loop that began anew
    constexpr double kLeastKept = 0.75, kAlone = 1.3, kLargestError = 0.1;
    double rounds = 0, squares = 0, time_ns = 0, cpu_ns = 0, kept = 0;
    for (const RoundPair& pair : pairs) {
        if (pair.rounds < kFewestRounds)
            continue;
        const double each = static_cast<double>(pair.rounds);
        rounds += each;
        squares += each * each;
        time_ns += static_cast<double>(pair.time_ns);
        cpu_ns += static_cast<double>(pair.cpu_ns);
        kept += 1;
    }
    if (kept < kFewest || kept < kLeastKept * static_cast<double>(pairs.size()))
        return 0;
    const double mean = rounds / kept, variance = std::max(0.0, squares / kept - mean * mean);
    const bool is_alone = time_ns <= kAlone * cpu_ns;
    if (std::sqrt(variance / kept) > kLargestError * mean)
        return 0;
    return (is_alone ? time_ns : cpu_ns) / rounds * 1000;
}

std::vector<LoopCounter> counters_around(const CodeRegion& code, uint64_t sampled) {
    std::vector<LoopCounter> counters;
    std::vector<CodeRegion::Loop> loops = code.loops_around(sampled);
    loops.resize(std::min(loops.size(), kMostLoops));
    for (size_t level = 0; level < loops.size(); ++level)
        if (const auto counter = counter_of(code, loops[level], sampled)) {
            counters.push_back(*counter);
            counters.back().level = static_cast<unsigned>(level);
        }
    return counters;
}

} // namespace plumb::record
