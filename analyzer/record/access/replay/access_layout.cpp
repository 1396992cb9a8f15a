#include "record/access/replay/access_layout.h"

#include "support/magnitude.h"
#include "support/memory_units.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <bit>

namespace plumb::record {

namespace {

constexpr uint64_t kWidestNatural = 8, kWidestVector = 64;
constexpr uint64_t kNear = 1 << 20;            // bytes between arrays that are taken for one
constexpr uint64_t kMostCounted = 4096;        // rounds; later ones repeat what is seen in these

uint64_t align_up(uint64_t value, uint64_t alignment) { return (value + alignment - 1) / alignment * alignment; }

uint64_t alignment_of(const LoopAccess& access, uint64_t step) {
    const uint64_t natural = std::bit_floor(std::max<uint64_t>(access.width, 1));
    if (!(access.flags & trace::kAlignPacked))
        return std::min(natural, kWidestNatural);
    return step == 0 || step % natural == 0 ? std::min(natural, kWidestVector) : kWidestNatural;
}

// Consecutive bytes of a record, and where they go.
struct Part {
    uint64_t begin, end, alignment;
    uint64_t moved = 0;
};

std::vector<Part> parts_of(const std::vector<LoopAccess>& accesses, const AccessGroup& group, uint64_t lowest, uint64_t step) {
    std::vector<Part> parts;
    for (const size_t member : group.members) {
        const LoopAccess& access = accesses[member];
        const uint64_t offset = access.address - lowest, begin = step ? offset % step : offset;
        parts.push_back({begin, begin + access.width, alignment_of(access, step)});
    }
    std::ranges::stable_sort(parts, {}, &Part::begin);
    std::vector<Part> merged;
    for (const Part& part : parts)
        if (!merged.empty() && part.begin < merged.back().end) {
            merged.back().end = std::max(merged.back().end, part.end);
            merged.back().alignment = std::max(merged.back().alignment, part.alignment);
        } else {
            merged.push_back(part);
        }
    return merged;
}

// Sets where the parts go; returns the new distance of two rounds.
uint64_t lay_out(std::vector<Part>& parts, uint64_t step) {
    uint64_t end = 0, largest = 1;
    for (Part& part : parts) {
        part.moved = align_up(std::max(part.begin, end), part.alignment);
        end = part.moved + (part.end - part.begin);
        largest = std::max(largest, part.alignment);
    }
    return step ? align_up(std::max(step, end), largest) : 0;
}

} // namespace

double crossing_share(const LoopAccess& access, uint64_t rounds, uint64_t boundary) {
    if (access.round == 0)
        rounds = 1;
    rounds = std::clamp<uint64_t>(rounds, 1, kMostCounted);
    uint64_t crossings = 0, address = access.address;
    for (uint64_t i = 0; i < rounds; ++i, address += static_cast<uint64_t>(access.round))
        crossings += (address & (boundary - 1)) + access.width > boundary;
    return static_cast<double>(crossings) / static_cast<double>(rounds);
}

std::vector<AccessGroup> groups_of(const std::vector<LoopAccess>& accesses) {
    std::vector<size_t> order(accesses.size());
    for (size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    std::ranges::stable_sort(order, {}, [&](size_t i) { return std::pair(accesses[i].round, accesses[i].address); });
    std::vector<AccessGroup> groups;
    uint64_t last = 0;
    for (const size_t i : order) {
        if (groups.empty() || groups.back().round != accesses[i].round || accesses[i].address - last > kNear)
            groups.push_back({accesses[i].round, {}});
        groups.back().members.push_back(i);
        last = accesses[i].address;
    }
    return groups;
}

std::vector<LoopAccess> aligned_layout(const std::vector<LoopAccess>& accesses) {
    std::vector<LoopAccess> aligned = accesses;
    for (const AccessGroup& group : groups_of(accesses)) {
        const uint64_t lowest = accesses[group.members.front()].address, step = magnitude(group.round);
        const uint64_t begin = lowest & ~(kLine - 1);
        std::vector<Part> parts = parts_of(accesses, group, lowest, step);
        // Round after round reaches into the next one: what overlaps keeps its distance, and its vectors their alignment.
        const bool keeps = step > 0 && parts.back().end > step + parts.front().begin;
        const uint64_t new_step = keeps ? step : lay_out(parts, step);
        for (const size_t member : group.members) {
            LoopAccess& access = aligned[member];
            const uint64_t offset = access.address - lowest;
            if (keeps) {
                access.address -= lowest % kWidestNatural;
                continue;
            }
            const uint64_t rounds = step ? offset / step : 0, within = offset - rounds * step;
            const auto part = std::prev(std::ranges::upper_bound(parts, within, {}, &Part::begin));
            access.address = begin + rounds * new_step + part->moved + (within - part->begin);
            access.round = group.round < 0 ? -static_cast<int64_t>(new_step) : static_cast<int64_t>(new_step);
        }
    }
    return aligned;
}

} // namespace plumb::record
