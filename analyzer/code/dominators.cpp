#include "code/dominators.h"

#include <algorithm>

namespace plumb::code {

namespace {

// Where the function is entered, or comes back to by a jump through a table, whose targets are not known. What else has no
// predecessor is padding, or handles an exception.
bool is_entry(const ControlFlow& flow, size_t block, bool has_tables) {
    if (block == 0)
        return true;
    const Block& each = flow.blocks[block];
    if (!has_tables || !each.predecessors.empty())
        return false;
    for (size_t i = each.begin; i < each.end; ++i)
        if (const Instruction& instruction = flow.instructions[i]; instruction.writes || instruction.memory.operand_count)
            return true;
    return false;
}

// All blocks that can be reached, each before those it leads to, but for ways back.
std::vector<size_t> reverse_postorder(const ControlFlow& flow) {
    std::vector<size_t> order;
    std::vector<bool> seen(flow.blocks.size());
    struct Visit {
        size_t block, next;
    };
    std::vector<Visit> path;
    const auto begin = [&](size_t root) {
        if (seen[root])
            return;
        seen[root] = true;
        path.push_back({root, 0});
        while (!path.empty()) {
            Visit& visit = path.back();
            const std::vector<size_t>& successors = flow.blocks[visit.block].successors;
            if (visit.next == successors.size()) {
                order.push_back(visit.block);
                path.pop_back();
                continue;
            }
            const size_t next = successors[visit.next++];
            if (!seen[next]) {
                seen[next] = true;
                path.push_back({next, 0});
            }
        }
    };
    const bool has_tables = std::ranges::any_of(flow.instructions, [](const Instruction& each) {
        return each.flow == Flow::jump && each.target == 0;
    });
    // What jumps through tables lead to comes first here, so that the function's begin comes first in the end.
    for (size_t i = flow.blocks.size(); i-- > 0;)
        if (is_entry(flow, i, has_tables))
            begin(i);
    std::ranges::reverse(order);
    return order;
}

void add_block(const ControlFlow& flow, size_t latch, std::vector<bool>& inside) {
    std::vector<size_t> open;
    if (!inside[latch])
        open.push_back(latch);
    inside[latch] = true;
    while (!open.empty()) {
        const size_t block = open.back();
        open.pop_back();
        for (const size_t before : flow.blocks[block].predecessors)
            if (!inside[before]) {
                inside[before] = true;
                open.push_back(before);
            }
    }
}

bool leads_out(const ControlFlow& flow, size_t block, const std::vector<bool>& inside) {
    const std::vector<size_t>& successors = flow.blocks[block].successors;
    const bool is_branch = flow.instructions[flow.blocks[block].end - 1].flow == Flow::branch;
    return (is_branch && successors.size() < 2) || std::ranges::any_of(successors, [&](size_t to) { return !inside[to]; });
}

void nest(std::vector<Loop>& loops) {
    for (size_t i = 0; i < loops.size(); ++i)
        for (size_t j = 0; j < loops.size(); ++j)
            if (i != j && loops[j].blocks.size() > loops[i].blocks.size() &&
                std::ranges::binary_search(loops[j].blocks, loops[i].header)) {
                loops[j].is_innermost = false;
                if (loops[i].parent == SIZE_MAX || loops[j].blocks.size() < loops[loops[i].parent].blocks.size())
                    loops[i].parent = j;
            }
}

} // namespace

bool dominates(const std::vector<size_t>& dominators, size_t above, size_t block) {
    while (block != kNoBlock && block != above)
        block = dominators[block];
    return block == above;
}

std::vector<size_t> immediate_dominators(const ControlFlow& flow) {
    const std::vector<size_t> order = reverse_postorder(flow);
    std::vector<size_t> place(flow.blocks.size()); // in the order, from 1 on: 0 is that of a root above all, and of what is not reached
    for (size_t i = 0; i < order.size(); ++i)
        place[order[i]] = i + 1;
    std::vector<size_t> above(order.size() + 1, SIZE_MAX); // by place
    above[0] = 0;
    const auto meet = [&](size_t left, size_t right) {
        while (left != right) {
            if (left > right)
                left = above[left];
            else
                right = above[right];
        }
        return left;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (const size_t block : order) {
            size_t best = block == 0 ? 0 : SIZE_MAX;
            for (const size_t before : flow.blocks[block].predecessors)
                if (place[before] != 0 && above[place[before]] != SIZE_MAX)
                    best = best == SIZE_MAX ? place[before] : meet(best, place[before]);
            if (best == SIZE_MAX) // entered through a table
                best = 0;
            if (above[place[block]] != best) {
                above[place[block]] = best;
                changed = true;
            }
        }
    }
    std::vector<size_t> dominators(flow.blocks.size(), kNoBlock);
    for (size_t block = 0; block < flow.blocks.size(); ++block)
        if (const size_t found = above[place[block]]; found != 0)
            dominators[block] = order[found - 1];
    return dominators;
}

std::vector<Loop> natural_loops(const ControlFlow& flow, const std::vector<size_t>& dominators) {
    std::vector<Loop> loops;
    for (size_t header = 0; header < flow.blocks.size(); ++header) {
        Loop loop;
        loop.header = header;
        for (const size_t before : flow.blocks[header].predecessors)
            if (dominates(dominators, header, before))
                loop.latches.push_back(before);
        if (loop.latches.empty())
            continue;
        std::vector<bool> inside(flow.blocks.size());
        inside[header] = true;
        for (const size_t latch : loop.latches)
            add_block(flow, latch, inside);
        for (size_t block = 0; block < inside.size(); ++block)
            if (inside[block]) {
                loop.blocks.push_back(block);
                loop.exits += leads_out(flow, block, inside);
            }
        loops.push_back(std::move(loop));
    }
    nest(loops);
    return loops;
}

size_t innermost_loop(const std::vector<Loop>& loops, size_t block) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < loops.size(); ++i)
        if (std::ranges::binary_search(loops[i].blocks, block) &&
            (best == SIZE_MAX || loops[i].blocks.size() < loops[best].blocks.size()))
            best = i;
    return best;
}

} // namespace plumb::code
