#include "code/loop_round.h"

#include <algorithm>
#include <set>

namespace plumb::code {

std::vector<RoundBlock> round_of(const ControlFlow& flow, const std::vector<size_t>& dominators, const std::vector<Loop>& loops,
                                 const Loop& loop) {
    std::vector<RoundBlock> order;
    std::set<size_t> seen{loop.header};
    struct Visit {
        size_t block, next;
    };
    std::vector<Visit> path{{loop.header, 0}};
    while (!path.empty()) {
        Visit& visit = path.back();
        const std::vector<size_t>& successors = flow.blocks[visit.block].successors;
        if (visit.next == successors.size()) {
            const bool always = std::ranges::all_of(loop.latches, [&](size_t latch) {
                return dominates(dominators, visit.block, latch);
            });
            const size_t innermost = innermost_loop(loops, visit.block);
            order.push_back({visit.block, always && innermost != SIZE_MAX && loops[innermost].header == loop.header});
            path.pop_back();
            continue;
        }
        const size_t next = successors[visit.next++];
        if (std::ranges::binary_search(loop.blocks, next) && seen.insert(next).second)
            path.push_back({next, 0});
    }
    std::ranges::reverse(order);
    return order;
}

} // namespace plumb::code
