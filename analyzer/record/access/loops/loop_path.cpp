#include "record/access/loops/loop_path.h"

#include "record/access/code/register_use.h"
#include "support/magnitude.h"

#include <plumb/trace_format.h>

#include <algorithm>
#include <array>

namespace plumb::record {

namespace {

constexpr int kMostInPath = 512;
constexpr size_t kMostSteps = 96; // of one way, what matters
constexpr size_t kMostNeighbours = 32;
constexpr uint64_t kLongestWalk = uint64_t{1} << 40;

uint32_t bit(int8_t number) { return number < 0 ? 0 : 1u << number; }
uint32_t registers_of(const LinearValue& value) { return bit(value.first) | bit(value.second); }
uint32_t registers_of(const shim::MemoryOperand& operand) { return bit(operand.base) | bit(operand.index); }

uint32_t loaded_by(const shim::MemoryInstruction& instruction) {
    uint32_t registers = 0;
    for (int i = 0; i < instruction.operand_count; ++i)
        if (instruction.operands[i].load && !instruction.operands[i].stack)
            registers |= registers_of(instruction.operands[i]);
    return registers;
}

bool is_nearby(const shim::MemoryOperand& operand) {
    return (operand.load || operand.store) && !operand.stack && operand.segment == shim::Segment::none;
}

} // namespace

// The registers, as far as they are known, while a way is followed.
class LoopPath::Machine {
  public:
    explicit Machine(const shim::Registers& registers) { std::copy_n(registers, shim::kRegisterCount, values_.begin()); }

    void run(const std::vector<Step>& way) {
        for (const Step& step : way)
            meet(step);
    }
    void meet(const Step& step);
    // An access that has moved its base register on by `moved` bytes already.
    void meet_again(const Step& access, int64_t moved) {
        meet(access);
        if (accesses[0])
            *accesses[0] -= static_cast<uint64_t>(moved);
    }

    // What was met: an address is given only while the registers that make it are known.
    struct Neighbour {
        uint64_t address;
        bool stores;
        size_t round; // accesses met before it
    };
    std::array<std::optional<uint64_t>, 3> accesses;
    std::array<std::optional<int64_t>, 2> turns; // what the jump of the first turns looked at
    std::array<Neighbour, kMostNeighbours> neighbours;
    size_t access_count = 0, turn_count = 0, neighbour_count = 0;

  private:
    std::optional<uint64_t> value_of(const LinearValue& value) const {
        if (registers_of(value) & ~known_)
            return std::nullopt;
        uint64_t sum = static_cast<uint64_t>(value.constant);
        if (value.first >= 0)
            sum += values_[value.first] * static_cast<uint64_t>(int64_t{value.first_factor});
        if (value.second >= 0)
            sum += values_[value.second] * static_cast<uint64_t>(int64_t{value.second_factor});
        return value.narrow ? sum & UINT32_MAX : sum;
    }
    std::optional<uint64_t> address_of(const shim::MemoryOperand& operand) const {
        if (registers_of(operand) & ~known_)
            return std::nullopt;
        shim::Registers registers;
        std::copy(values_.begin(), values_.end(), registers);
        return shim::operand_address(operand, registers, 0);
    }
    static int64_t narrowed(uint64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

    std::array<uint64_t, shim::kRegisterCount> values_;
    uint32_t known_ = shim::kGeneralRegisters;
    std::optional<int64_t> compared_;
};

void LoopPath::Machine::meet(const Step& step) {
    switch (step.kind) {
    case Step::Kind::assign:
        if (const auto value = value_of(step.value)) {
            values_[step.changed] = step.sign_extended ? static_cast<uint64_t>(narrowed(*value)) : *value;
            known_ |= bit(step.changed);
        } else {
            known_ &= ~bit(step.changed);
        }
        break;
    case Step::Kind::forget:
        known_ &= ~step.forgotten;
        break;
    case Step::Kind::compare:
        compared_.reset();
        if (const auto value = value_of(step.value))
            compared_ = step.value.narrow ? narrowed(*value) : static_cast<int64_t>(*value);
        break;
    case Step::Kind::uncompare:
        compared_.reset();
        break;
    case Step::Kind::turn:
        if (turn_count < turns.size())
            turns[turn_count++] = compared_;
        break;
    case Step::Kind::access:
        if (access_count < accesses.size())
            accesses[access_count++] = address_of(step.operand);
        break;
    case Step::Kind::neighbour:
        if (const auto address = address_of(step.operand); address && neighbour_count < kMostNeighbours)
            neighbours[neighbour_count++] = {*address, step.stores, access_count};
        break;
    }
}

// Appends what is met from `from` up to and with `access`. False: it is not reached.
bool LoopPath::add_way(const CodeRegion& code, uint64_t from, uint64_t access, const AccessPlan& plan,
                       std::vector<Step>& way) {
    uint64_t address = from;
    for (int count = 0; count < kMostInPath; ++count) {
        if (address == access) {
            Step step;
            step.kind = Step::Kind::access;
            step.operand = plan.operand;
            way.push_back(step);
            return true;
        }
        shim::MemoryInstruction instruction;
        if (!code.decode_at(address, &instruction))
            return false;
        const auto own = code.bytes_at(address).first(instruction.length);
        const Jump jump = jump_at(address, own);
        if (instruction.branch && jump.target == 0) {
            if (!is_call(own))
                return false;
            Step step;
            step.forgotten = kCallerSaved;
            way.push_back(step);
            step.kind = Step::Kind::uncompare;
            way.push_back(step);
            address += instruction.length;
            continue;
        }
        if (jump.target != 0) {
            const bool goes_back = jump.target <= address;
            const bool encloses = goes_back && jump.target <= access && access <= address;
            if (!jump.conditional) {
                address = jump.target;
                continue;
            }
            if (encloses) {
                Step step;
                if (const RegisterStep looks = register_step(own); looks.flags == RegisterStep::Flags::set) { // at a register
                    step.kind = Step::Kind::compare;
                    step.value = looks.compared;
                    way.push_back(step);
                    step = {};
                }
                step.kind = Step::Kind::turn;
                way.push_back(step);
                address = jump.target;
                continue;
            }
            if (goes_back) { // a loop beside the access, just over: whatever it changes is not known
                Step step;
                for (uint64_t inside = std::max(jump.target, code.start()); inside < address;) {
                    shim::MemoryInstruction other;
                    if (!code.decode_at(inside, &other))
                        return false;
                    step.forgotten |= other.overwritten;
                    inside += other.length;
                }
                way.push_back(step);
            }
            address += instruction.length;
            continue;
        }
        for (int i = 0; i < instruction.operand_count; ++i) {
            const shim::MemoryOperand& operand = instruction.operands[i];
            if (!is_nearby(operand) || operand.width != plan.operand.width)
                continue;
            Step step;
            step.kind = Step::Kind::neighbour;
            step.operand = operand;
            step.stores = operand.store;
            way.push_back(step);
        }
        const RegisterStep effect = register_step(own);
        // A load that moves its base register on: what it loads is not known.
        const uint32_t loaded = effect.changed >= 0 ? instruction.overwritten & ~bit(effect.changed) : 0;
        if (loaded != 0 && instruction.operand_count > 0) {
            Step step;
            step.forgotten = loaded;
            step.loaded_by = loaded_by(instruction);
            way.push_back(step);
        }
        Step flags; // looks at the registers as they are before the instruction
        if (effect.flags == RegisterStep::Flags::set) {
            flags.kind = Step::Kind::compare;
            flags.value = effect.compared;
            way.push_back(flags);
        } else if (effect.flags == RegisterStep::Flags::unknown) {
            flags.kind = Step::Kind::uncompare;
            way.push_back(flags);
        }
        Step step;
        if (effect.changed >= 0) {
            step.kind = Step::Kind::assign;
            step.changed = effect.changed;
            step.sign_extended = effect.sign_extended;
            step.value = effect.value;
            way.push_back(step);
        } else if (instruction.overwritten) {
            step.forgotten = instruction.overwritten;
            step.loaded_by = loaded_by(instruction);
            step.sources = effect.mixed;
            way.push_back(step);
        }
        address += instruction.length;
    }
    return false;
}

// Follows around the loop what is made of the address, and what is loaded with its help. Before keep_what_matters(), of
// the whole way.
bool LoopPath::waits_for_itself(const shim::MemoryOperand& operand) const {
    uint32_t changed = 0;
    for (const Step& step : around_)
        changed |= step.kind == Step::Kind::assign ? bit(step.changed) : step.forgotten;
    uint32_t derived = registers_of(operand) & changed; // the base of an array is the same for all
    uint32_t loaded = 0;
    for (const Step& step : around_) {
        if (step.kind == Step::Kind::assign) {
            const uint32_t sources = registers_of(step.value), to = bit(step.changed);
            const bool is_derived = sources & derived, is_loaded = sources & loaded;
            derived = (derived & ~to) | (is_derived ? to : 0);
            loaded = (loaded & ~to) | (is_loaded ? to : 0);
        } else if (step.kind == Step::Kind::forget && step.loaded_by) {
            const bool is_loaded = step.loaded_by & (derived | loaded);
            derived &= ~step.forgotten;
            loaded = (loaded & ~step.forgotten) | (is_loaded ? step.forgotten : 0);
        } else if (step.kind == Step::Kind::forget) { // arithmetic in place, of its own and of its other operand
            derived |= step.sources & derived ? step.forgotten : 0;
            loaded |= step.sources & loaded ? step.forgotten : 0;
        }
    }
    return registers_of(operand) & loaded;
}

// Drops the steps that neither the address nor the loop's condition depend on.
void LoopPath::keep_what_matters(const shim::MemoryOperand& operand) {
    const auto both = {&to_access_, &around_};
    uint32_t needed = registers_of(operand);
    const auto need_sources = [&] {
        for (bool grows = true; grows;) {
            grows = false;
            for (const auto* way : both)
                for (const Step& step : *way)
                    if (step.kind == Step::Kind::assign && (needed & bit(step.changed)) &&
                        (registers_of(step.value) & ~needed)) {
                        needed |= registers_of(step.value);
                        grows = true;
                    }
        }
    };
    need_sources();
    const uint32_t of_address = needed;
    for (auto* way : both) {
        // Of comparisons the one before each turn, found from behind.
        bool wanted = false;
        std::vector<Step> kept;
        for (auto step = way->rbegin(); step != way->rend(); ++step) {
            const bool is_flags = step->kind == Step::Kind::compare || step->kind == Step::Kind::uncompare;
            if (step->kind == Step::Kind::turn)
                wanted = true;
            if (is_flags && !wanted)
                continue;
            if (is_flags) {
                wanted = false;
                if (step->kind == Step::Kind::compare)
                    needed |= registers_of(step->value);
            }
            // Neighbours must be made of the same registers: others walk elsewhere.
            if (step->kind == Step::Kind::neighbour &&
                (registers_of(step->operand) == 0 || (registers_of(step->operand) & ~of_address)))
                continue;
            kept.push_back(*step);
        }
        std::reverse(kept.begin(), kept.end());
        *way = std::move(kept);
    }
    need_sources();
    for (auto* way : both) {
        std::erase_if(*way, [&](const Step& step) {
            return (step.kind == Step::Kind::assign && !(needed & bit(step.changed))) ||
                   (step.kind == Step::Kind::forget && !(needed & step.forgotten));
        });
        way->shrink_to_fit();
    }
}

std::shared_ptr<const LoopPath> LoopPath::follow(const CodeRegion& code, uint64_t sampled, const AccessPlan& plan) {
    if (plan.kind == AccessPlan::Kind::none || plan.operand.stack || (plan.flags & trace::kAlignString) ||
        registers_of(plan.operand) == 0 || plan.operand.base == shim::kNextInstruction)
        return nullptr;
    const uint64_t access = plan.instruction(sampled);
    if (!code.is_in_loop(access))
        return nullptr;
    auto path = std::make_shared<LoopPath>();
    path->begins_behind_ = plan.kind == AccessPlan::Kind::before;
    path->base_moved_ = plan.base_moved;
    if (!path->add_way(code, sampled, access, plan, path->to_access_))
        return nullptr;
    // From the access on: its own effect first.
    shim::MemoryInstruction instruction;
    if (!code.decode_at(access, &instruction))
        return nullptr;
    const RegisterStep effect = register_step(code.bytes_at(access).first(instruction.length));
    const uint32_t stepped = shim::stepped_base(plan.operand);
    if (instruction.overwritten & ~stepped) {
        Step step;
        step.forgotten = instruction.overwritten & ~stepped;
        step.loaded_by = loaded_by(instruction);
        path->around_.push_back(step);
    }
    if (stepped != 0) {
        Step step;
        step.kind = Step::Kind::assign;
        step.changed = effect.changed;
        step.value = effect.value;
        path->around_.push_back(step);
    }
    Step flags;
    flags.kind = Step::Kind::uncompare;
    if (effect.flags != RegisterStep::Flags::kept)
        path->around_.push_back(flags);
    if (!path->add_way(code, access + instruction.length, access, plan, path->around_))
        return nullptr;
    path->chases_ = path->waits_for_itself(plan.operand);
    path->keep_what_matters(plan.operand);
    if (path->to_access_.size() > kMostSteps || path->around_.size() > kMostSteps)
        return nullptr;
    return path;
}

std::optional<LoopMove> LoopPath::move(const shim::Registers& registers) const {
    Machine machine(registers);
    if (begins_behind_)
        machine.meet_again(around_.back(), base_moved_); // the access whose registers the sample still holds
    machine.run(to_access_);
    machine.run(around_);
    if (!begins_behind_)
        machine.run(around_);
    const auto& met = machine.accesses;
    if (machine.access_count < met.size() || !met[0] || !met[1] || !met[2])
        return std::nullopt;
    LoopMove move;
    const int64_t round = static_cast<int64_t>(*met[1] - *met[0]);
    if (round == 0 || static_cast<int64_t>(*met[2] - *met[1]) != round)
        return std::nullopt;
    move.stride = move.round = round;
    move.address = *met[0];

    // Copies of the access that stand between it and itself, at even distances: an unrolled loop.
    std::vector<uint64_t> between;
    for (size_t i = 0; i < machine.neighbour_count; ++i) {
        const Machine::Neighbour& neighbour = machine.neighbours[i];
        const uint64_t last = *met[neighbour.round == 0 ? 0 : neighbour.round - 1];
        const int64_t ahead = static_cast<int64_t>(neighbour.address - last);
        move.stored |= neighbour.stores && (ahead == 0 || ahead == round);
        // The second round, of which all is seen.
        if (neighbour.round == 2 && ahead != 0 && (ahead < 0) == (round < 0) && magnitude(ahead) < magnitude(round))
            between.push_back(magnitude(ahead));
    }
    std::sort(between.begin(), between.end());
    between.erase(std::unique(between.begin(), between.end()), between.end());
    const uint64_t copies = between.size() + 1;
    bool even = magnitude(round) % copies == 0;
    for (size_t i = 0; even && i < between.size(); ++i)
        even = between[i] == magnitude(round) / copies * (i + 1);
    if (even)
        move.stride = round / static_cast<int64_t>(copies);

    // What the loop's condition looks at goes in even steps towards zero, where the loop ends.
    const auto& turns = machine.turns;
    if (turns[0] && turns[1] && *turns[0] != *turns[1]) {
        const int64_t step = *turns[0] - *turns[1];
        const uint64_t left = magnitude(*turns[0]) / magnitude(step);
        if ((left == 0 || (*turns[0] < 0) == (step < 0)) && left < kLongestWalk)
            move.to_come = (left + 1) * (even ? copies : 1);
    }
    return move;
}

} // namespace plumb::record
