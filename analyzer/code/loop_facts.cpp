#include "code/loop_facts.h"

#include <algorithm>
#include <cmath>

namespace plumb::code {

namespace {

using Kind = Operation::Kind;

// Instructions that current processors start in a cycle.
constexpr double kIssued = 4, kArithmetic = 2, kLoads = 2, kStores = 1;

void count(const Instruction& instruction, LoopFacts& facts) {
    const Operation& operation = instruction.operation;
    const auto kind = static_cast<size_t>(operation.kind);
    ++facts.instructions;
    facts.loads += instruction.loads();
    facts.stores += instruction.stores();
    if (operation.kind == Kind::gather || instruction.memory.gather)
        ++facts.gathers;
    facts.wide_conversions += instruction.converts_wide_integer;
    if (operation.kind == Kind::none)
        return;
    ++(operation.is_packed() ? facts.packed : facts.scalar)[kind];
    (operation.is_packed() ? facts.packed_operations : facts.scalar_operations) += operation.operations();
    if (operation.element_bytes == 4)
        facts.single_operations += operation.operations();
    if (operation.element_bytes > 8)
        facts.x87_operations += operation.operations();
    if (operation.is_packed() && operation.computes())
        facts.vector_bytes = std::max(facts.vector_bytes, instruction.vector_bytes);
}

bool only_calls(const ControlFlow& flow, const Block& block) {
    for (size_t i = block.begin; i < block.end; ++i)
        if (flow.instructions[i].flow == Flow::call)
            return true;
    return false;
}

bool has_root(const ControlFlow& flow, const std::vector<RoundBlock>& round) {
    for (const RoundBlock& each : round)
        for (size_t i = flow.blocks[each.block].begin; i < flow.blocks[each.block].end; ++i)
            if (flow.instructions[i].operation.kind == Kind::square_root)
                return true;
    return false;
}

// A divider takes one division after the other.
double divider_cycles(const LoopFacts& facts) {
    const double each = facts.element_bytes() == 8 ? 4 : 3;
    return each * (facts.count(Kind::divide) + facts.count(Kind::square_root));
}

} // namespace

LoopFacts facts_of(const ControlFlow& flow, const std::vector<size_t>& dominators, const std::vector<Loop>& loops, const Loop& loop) {
    LoopFacts facts;
    facts.begin = UINT64_MAX;
    facts.exits = loop.exits;
    const std::vector<RoundBlock> round = round_of(flow, dominators, loops, loop);
    const bool behind_root = has_root(flow, round);
    for (const RoundBlock& each : round) {
        const Block& block = flow.blocks[each.block];
        facts.conditional_blocks += !each.always && !only_calls(flow, block) && block.end - block.begin > 1;
        facts.begin = std::min(facts.begin, flow.instructions[block.begin].address);
        facts.end = std::max(facts.end, flow.instructions[block.end - 1].end());
        for (size_t i = block.begin; i < block.end; ++i) {
            if (each.always || !only_calls(flow, block)) // what seldom calls is no part of the work
                count(flow.instructions[i], facts);
            if (flow.instructions[i].flow == Flow::call)
                facts.calls.push_back({.target = flow.instructions[i].target, .behind_root = behind_root, .always = each.always});
        }
    }
    facts.accesses = streams_of(flow, round, loop);
    facts.carried = carried_values(flow, round, facts.accesses);
    for (const CarriedValue& value : facts.carried)
        facts.chain_cycles = std::max(facts.chain_cycles, value.cycles);
    unsigned arithmetic = 0;
    for (const Kind kind : {Kind::add, Kind::multiply, Kind::fused, Kind::extreme})
        arithmetic += facts.count(kind);
    facts.throughput_cycles = std::max({static_cast<double>(facts.instructions) / kIssued, arithmetic / kArithmetic,
                                        facts.loads / kLoads, facts.stores / kStores, divider_cycles(facts)});
    return facts;
}

bool do_alike(const LoopFacts& left, const LoopFacts& right) {
    constexpr double kTolerance = 0.2; // of the operations
    constexpr Kind kCompared[] = {Kind::add, Kind::multiply, Kind::fused, Kind::divide, Kind::square_root, Kind::extreme};
    double sum_left = 0, sum_right = 0;
    for (const Kind kind : kCompared) {
        sum_left += left.count(kind);
        sum_right += right.count(kind);
    }
    if (sum_left == 0 || sum_right == 0)
        return false;
    double apart = 0;
    for (const Kind kind : kCompared)
        apart += std::abs(left.count(kind) / sum_left - right.count(kind) / sum_right);
    return apart <= kTolerance;
}

} // namespace plumb::code
