#include "code/control_flow.h"

#include <algorithm>
#include <set>

namespace plumb::code {

namespace {

std::vector<Instruction> decode_all(uint64_t start, std::span<const uint8_t> code) {
    std::vector<Instruction> instructions;
    for (size_t at = 0; at < code.size();) {
        const std::optional<Instruction> found = decode_instruction(start + at, code.subspan(at));
        if (!found)
            break;
        instructions.push_back(*found);
        at += found->memory.length;
    }
    return instructions;
}

// Where blocks begin.
std::set<uint64_t> heads_of(const std::vector<Instruction>& instructions) {
    std::set<uint64_t> heads;
    if (!instructions.empty())
        heads.insert(instructions.front().address);
    for (const Instruction& each : instructions) {
        if (each.flow == Flow::next || each.flow == Flow::call)
            continue;
        heads.insert(each.end());
        if (each.target != 0)
            heads.insert(each.target);
    }
    return heads;
}

} // namespace

std::optional<size_t> ControlFlow::block_at(uint64_t address) const {
    const auto begin_of = [this](const Block& block) { return instructions[block.begin].address; };
    const auto after = std::ranges::upper_bound(blocks, address, {}, begin_of);
    if (after == blocks.begin())
        return std::nullopt;
    const Block& block = *std::prev(after);
    if (address >= instructions[block.end - 1].end())
        return std::nullopt;
    return static_cast<size_t>(std::prev(after) - blocks.begin());
}

ControlFlow control_flow_of(uint64_t start, std::span<const uint8_t> code) {
    ControlFlow flow;
    flow.instructions = decode_all(start, code);
    const std::set<uint64_t> heads = heads_of(flow.instructions);
    for (size_t i = 0; i < flow.instructions.size(); ++i) {
        if (flow.blocks.empty() || heads.contains(flow.instructions[i].address))
            flow.blocks.push_back({.begin = i, .end = i + 1, .successors = {}, .predecessors = {}});
        else
            flow.blocks.back().end = i + 1;
    }
    const auto link = [&](size_t from, uint64_t target) {
        const std::optional<size_t> to = flow.block_at(target);
        if (!to || flow.instructions[flow.blocks[*to].begin].address != target) // outside, or amid an instruction
            return;
        if (std::ranges::find(flow.blocks[from].successors, *to) != flow.blocks[from].successors.end())
            return;
        flow.blocks[from].successors.push_back(*to);
        flow.blocks[*to].predecessors.push_back(from);
    };
    for (size_t i = 0; i < flow.blocks.size(); ++i) {
        const Instruction& last = flow.instructions[flow.blocks[i].end - 1];
        if (last.flow == Flow::jump || last.flow == Flow::branch)
            link(i, last.target);
        if (last.flow == Flow::next || last.flow == Flow::branch || last.flow == Flow::call)
            link(i, last.end());
    }
    return flow;
}

} // namespace plumb::code
