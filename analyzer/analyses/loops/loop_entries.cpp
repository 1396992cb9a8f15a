#include "analyses/loops/loop_entries.h"

#include <algorithm>
#include <set>

namespace plumb {

namespace {

constexpr size_t kMostInstructions = 60; // on the way in: what lies further away may be other work
constexpr uint64_t kFewestSamples = 4;

size_t length_of(const code::Block& block) { return block.end - block.begin; }

// Blocks that run when the loop is entered and when it is left, and not in its rounds.
std::set<size_t> way_of(const code::ControlFlow& flow, const std::vector<size_t>& dominators, const std::vector<code::Loop>& loops,
                        size_t number) {
    const code::Loop& loop = loops[number];
    const auto is_beside = [&](size_t block) { return code::innermost_loop(loops, block) == loop.parent; };
    std::set<size_t> way;
    size_t instructions = 0;
    for (size_t block = dominators[loop.header]; block != code::kNoBlock && is_beside(block) && instructions < kMostInstructions;
         block = dominators[block]) {
        way.insert(block);
        instructions += length_of(flow.blocks[block]);
    }
    for (const size_t block : loop.blocks)
        for (const size_t behind : flow.blocks[block].successors)
            if (!std::ranges::binary_search(loop.blocks, behind) && is_beside(behind))
                way.insert(behind);
    return way;
}

} // namespace

double rounds_of(const code::ControlFlow& flow, const std::vector<size_t>& dominators, const std::vector<code::Loop>& loops, size_t loop,
                 const std::vector<BlockSamples>& samples) {
    double inside_ns = 0, way_ns = 0;
    size_t inside = 0, on_way = 0;
    uint64_t way_samples = 0;
    for (const size_t block : loops[loop].blocks) {
        inside_ns += samples[block].time_ns;
        inside += length_of(flow.blocks[block]);
    }
    for (const size_t block : way_of(flow, dominators, loops, loop)) {
        way_ns += samples[block].time_ns;
        way_samples += samples[block].samples;
        on_way += length_of(flow.blocks[block]);
    }
    if (way_samples < kFewestSamples || way_ns <= 0 || on_way == 0 || inside == 0)
        return 0;
    return (inside_ns / static_cast<double>(inside)) / (way_ns / static_cast<double>(on_way));
}

} // namespace plumb
