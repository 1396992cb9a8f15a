#include "record/access/loops/wait_loop.h"

#include "record/access/code/register_use.h"

#include <algorithm>
#include <map>

namespace plumb::record {

namespace {

constexpr size_t kMostWaiting = 64;
constexpr size_t kMostSlots = 32;

using Names = uint64_t; // a set: bits 0 to 31 general registers, from 32 on slots of the stack frame

struct Slot {
    int8_t base;
    int64_t displacement;
    uint16_t width;
    bool operator==(const Slot&) const = default;
    bool overlaps(const Slot& other) const {
        return base == other.base && displacement < other.displacement + other.width &&
               other.displacement < displacement + width;
    }
};

struct Step {
    shim::MemoryInstruction memory;
    RegisterUse use;
    std::vector<uint64_t> next;
    Names taken = 0, given = 0, addresses = 0;
    bool loads = false; // from other places than slots that the loop stores to
};

class Body {
  public:
    Body(const CodeRegion& code, const CodeRegion::Loop& loop, const YieldTest& only_yields)
        : code_(code), loop_(loop), only_yields_(only_yields) {}

    bool contains(uint64_t address) const { return steps_.contains(address); }

    // The instructions from which the jump back is reached without the head. False: too many.
    bool find() {
        std::vector<uint64_t> open{loop_.head};
        while (!open.empty()) {
            const uint64_t address = open.back();
            open.pop_back();
            if (steps_.contains(address))
                continue;
            if (steps_.size() >= kMostWaiting * 4)
                return false;
            Step& step = steps_[address];
            const auto bytes = code_.bytes_at(address);
            if (!code_.decode_at(address, &step.memory) || !decode_register_use(bytes, &step.use))
                return false;
            const Jump jump = jump_at(address, bytes.first(step.memory.length));
            if (jump.target != 0)
                step.next.push_back(jump.target);
            const bool comes_back = !step.memory.branch || jump.conditional || is_call(bytes.first(step.memory.length));
            if (comes_back)
                step.next.push_back(address + step.memory.length);
            std::erase_if(step.next, [&](uint64_t to) { return to < loop_.head || to > loop_.jump; });
            for (const uint64_t to : step.next)
                open.push_back(to);
        }
        keep_what_comes_back();
        return !steps_.empty() && steps_.size() <= kMostWaiting;
    }

    std::optional<WaitLoop> judge() {
        if (!describe())
            return std::nullopt;
        const Names carried = carried_names();
        if (carried != 0 && !pauses_ && yield_return_ == 0)
            return std::nullopt;
        if (any_address_of(carried))
            return std::nullopt;
        if (any_swap_of_loaded())
            return std::nullopt;
        WaitLoop found{loop_.head, loop_.jump + steps_.at(loop_.jump).memory.length, 0, 0, pauses_, false, yield_return_ != 0, yield_return_, {}, 0};
        int best = 0;
        for (const auto& [address, step] : steps_) {
            for (int i = 0; i < step.memory.operand_count; ++i) {
                const shim::MemoryOperand& operand = step.memory.operands[i];
                if (!operand.load || !step.loads || step.use.fills_vector)
                    continue;
                const int rank = operand.store ? 3 : is_slot(operand) ? 1 : 2;
                found.stores |= operand.store;
                if (rank > best)
                    best = rank, found.instruction = address, found.width = operand.width, found.operand = operand,
                    found.length = step.memory.length;
            }
        }
        return best > 0 || pauses_ ? std::optional(found) : std::nullopt;
    }

  private:
    void keep_what_comes_back() {
        if (!steps_.contains(loop_.jump)) {
            steps_.clear();
            return;
        }
        std::vector<uint64_t> kept{loop_.jump};
        for (bool grows = true; grows;) {
            grows = false;
            for (const auto& [address, step] : steps_) {
                if (std::ranges::find(kept, address) != kept.end())
                    continue;
                const auto stays = [&](uint64_t to) {
                    return to != loop_.head && std::ranges::find(kept, to) != kept.end();
                };
                if (std::ranges::any_of(step.next, stays))
                    kept.push_back(address), grows = true;
            }
        }
        std::erase_if(steps_, [&](const auto& entry) { return std::ranges::find(kept, entry.first) == kept.end(); });
        for (auto& [address, step] : steps_)
            std::erase_if(step.next, [&](uint64_t to) { return !steps_.contains(to); });
        if (!steps_.contains(loop_.head))
            steps_.clear();
    }

    // Of a frame whose base the loop leaves as it is.
    bool is_slot(const shim::MemoryOperand& operand) const {
        return (operand.base == shim::kStackPointer || operand.base == kFramePointer) && operand.index == shim::kNoRegister &&
               operand.segment == shim::Segment::none && (overwritten_ >> operand.base & 1) == 0;
    }

    // Its bit; 0: too many slots, or it overlaps another one.
    Names name_of(const shim::MemoryOperand& operand) {
        const Slot slot{operand.base, operand.displacement, operand.width};
        for (size_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i] == slot)
                return Names{1} << (32 + i);
            if (slots_[i].overlaps(slot))
                return 0;
        }
        if (slots_.size() >= kMostSlots)
            return 0;
        slots_.push_back(slot);
        return Names{1} << (31 + slots_.size());
    }

    static bool takes_lock(const Step& step, const shim::MemoryOperand& operand) {
        return operand.load && step.memory.locked &&
               (step.use.swaps || step.use.compares_and_swaps || step.use.sets_bit);
    }

    // What a call that yields leaves behind: in registers that functions need not preserve, something that the loop did not make.
    // It stores no more than where it returns to.
    bool describe_yield(uint64_t address, Step& step) {
        if (!only_yields_ || !only_yields_(address))
            return false;
        yield_return_ = address + step.memory.length;
        called_by_ |= step.use.taken & ~(1u << shim::kStackPointer);
        step.use = {};
        step.use.given = step.memory.overwritten = kCallerSaved;
        step.memory.operand_count = 0;
        step.memory.branch = false;
        return true;
    }

    bool describe() {
        uint32_t taken_wide = 0;
        for (auto& [address, step] : steps_) {
            if (is_call(code_.bytes_at(address).first(step.memory.length)) && !describe_yield(address, step))
                return false;
            const bool leaves = step.memory.branch && jump_at(address, code_.bytes_at(address).first(step.memory.length)).target == 0;
            if (leaves || step.use.other_state || step.memory.string || step.memory.gather)
                return false;
            overwritten_ |= step.memory.overwritten;
            pauses_ |= step.use.pause;
            taken_wide |= step.use.taken_wide;
        }
        if ((overwritten_ & called_by_) != 0) // by another register value in each round
            return false;
        for (auto& [address, step] : steps_) {
            // Where nothing takes more than the lowest byte of a register, giving that byte gives all that counts.
            const uint32_t kept = step.use.kept & ~(step.use.given_low & ~taken_wide);
            step.taken = step.use.taken | kept;
            step.given = step.use.given | step.use.kept;
            for (int i = 0; i < step.memory.operand_count; ++i) {
                const shim::MemoryOperand& operand = step.memory.operands[i];
                for (const int8_t part : {operand.base, operand.index})
                    if (part >= 0 && part < shim::kNextInstruction)
                        step.addresses |= Names{1} << part;
                const bool lock = takes_lock(step, operand);
                if (!is_slot(operand) || lock) {
                    if (operand.store && !lock)
                        return false;
                    step.loads |= operand.load;
                    continue;
                }
                const Names name = name_of(operand);
                if (name == 0)
                    return false;
                (operand.load ? step.taken : step.given) |= name;
                if (operand.store)
                    step.given |= name, stored_ |= name;
            }
        }
        for (auto& [address, step] : steps_)
            step.loads |= (step.taken >> 32 << 32 & ~stored_) != 0;
        return true;
    }

    // Read before they are given a value in the round, and given one somewhere in it.
    Names carried_names() const {
        std::map<uint64_t, Names> known; // what every way from the head has given a value before the instruction
        for (const auto& [address, step] : steps_)
            known[address] = ~Names{0};
        known[loop_.head] = 0;
        for (bool changes = true; changes;) {
            changes = false;
            for (const auto& [address, step] : steps_)
                for (const uint64_t to : step.next) {
                    const Names now = known[to] & (known[address] | step.given);
                    changes |= now != known[to];
                    known[to] = now;
                }
        }
        Names read = 0, given = 0;
        for (const auto& [address, step] : steps_) {
            read |= step.taken & ~known[address];
            given |= step.given;
        }
        return read & given;
    }

    // What may depend on `first` at the head, or on memory if `loaded`, before each instruction.
    std::map<uint64_t, Names> dependent(Names first, bool loaded) const {
        std::map<uint64_t, Names> names;
        names[loop_.head] = first;
        for (bool changes = true; changes;) {
            changes = false;
            for (const auto& [address, step] : steps_) {
                const Names before = names[address];
                const bool depends = (step.taken & before) != 0 || (loaded && step.loads);
                const Names behind = depends ? before | step.given : before & ~step.given;
                for (const uint64_t to : step.next) {
                    changes |= (behind & ~names[to]) != 0;
                    names[to] |= behind;
                }
            }
        }
        return names;
    }

    bool any_address_of(Names carried) const {
        if (carried == 0)
            return false;
        const auto names = dependent(carried, false);
        return std::ranges::any_of(steps_, [&](const auto& entry) {
            return (entry.second.addresses & names.at(entry.first)) != 0;
        });
    }

    // A locked exchange whose operands, the value expected among them, come from memory or from the round before.
    bool any_swap_of_loaded() const {
        const auto names = dependent(carried_names(), true);
        return std::ranges::any_of(steps_, [&](const auto& entry) {
            const Step& step = entry.second;
            const bool swaps = step.use.swaps || step.use.compares_and_swaps || step.use.sets_bit;
            return swaps && (step.taken & ~step.addresses & names.at(entry.first)) != 0;
        });
    }

    const CodeRegion& code_;
    CodeRegion::Loop loop_;
    const YieldTest& only_yields_;
    uint64_t yield_return_ = 0;
    uint32_t called_by_ = 0; // registers that hold the functions that yield
    std::map<uint64_t, Step> steps_; // by address
    std::vector<Slot> slots_;
    Names stored_ = 0;
    uint32_t overwritten_ = 0;
    bool pauses_ = false;
};

// Loops with one head, the shortest first: compilers let a wait at the beginning of a round jump to where the round begins.
std::vector<CodeRegion::Loop> with_same_head(const CodeRegion& code, const CodeRegion::Loop& longest) {
    std::vector<CodeRegion::Loop> loops;
    shim::MemoryInstruction instruction;
    uint64_t at = longest.head;
    for (size_t count = 0; count < kMostWaiting && at < longest.jump && code.decode_at(at, &instruction); ++count) {
        if (instruction.branch && jump_at(at, code.bytes_at(at).first(instruction.length)).target == longest.head)
            loops.push_back({longest.head, at});
        at += instruction.length;
    }
    loops.push_back(longest);
    return loops;
}

} // namespace

// By registers that functions preserve: one that only yields makes no use of them, but perhaps of rbp for its own frame.
std::optional<uint64_t> WaitLoop::address_at_call(const PerfRecord& sample) const {
    const auto is_told = [](int8_t part) {
        return part == shim::kNoRegister || part == shim::kNextInstruction ||
               (part != shim::kStackPointer && part != kFramePointer && part < shim::kNextInstruction && (kCallerSaved >> part & 1) == 0);
    };
    if (!looks() || !is_told(operand.base) || !is_told(operand.index) || operand.segment != shim::Segment::none ||
        sample.register_abi != PERF_SAMPLE_REGS_ABI_64 || sample.registers.size() != kDwarfNumbers.size())
        return std::nullopt;
    shim::Registers registers;
    for (size_t i = 0; i < kDwarfNumbers.size(); ++i)
        registers[kDwarfNumbers[i]] = sample.registers[i];
    registers[shim::kNextInstruction] = instruction + length;
    return shim::operand_address(operand, registers, 0);
}

std::optional<WaitLoop> wait_loop_around(const CodeRegion& code, uint64_t sampled, const YieldTest& only_yields) {
    for (const CodeRegion::Loop& longest : code.loops_around(sampled))
        for (const CodeRegion::Loop& loop : with_same_head(code, longest)) {
            if (sampled > loop.jump)
                continue;
            Body body(code, loop, only_yields);
            if (!body.find())
                return std::nullopt;
            if (body.contains(sampled))
                return body.judge();
        }
    return std::nullopt;
}

} // namespace plumb::record
