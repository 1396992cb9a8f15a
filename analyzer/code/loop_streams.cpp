#include "code/loop_streams.h"

#include <algorithm>
#include <map>
#include <optional>

namespace plumb::code {

namespace {

constexpr int kRegisters = kGeneralRegisters;
constexpr int kStackRegister = 7, kFrameRegister = 6;
constexpr RegisterSet kKeptByCalls = 1u << 3 | 1u << 6 | 1u << 7 | 0xf000u; // rbx, rbp, rsp, r12 to r15

using Registers = std::array<LinearForm, kRegisters>;

LinearForm symbol(int number) {
    LinearForm form;
    form.factors[static_cast<size_t>(number)] = 1;
    return form;
}

LinearForm unknown(bool loaded) {
    LinearForm form;
    form.known = false;
    form.loaded = loaded;
    return form;
}

// to + factor * from
LinearForm plus(LinearForm to, const LinearForm& from, int64_t factor) {
    if (!to.known || !from.known)
        return unknown((!to.known && to.loaded) || (!from.known && from.loaded));
    const auto add = [](int64_t left, int64_t right, int64_t times) { // wraps, as addresses do
        return static_cast<int64_t>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right) * static_cast<uint64_t>(times));
    };
    for (size_t i = 0; i < to.factors.size(); ++i)
        to.factors[i] = add(to.factors[i], from.factors[i], factor);
    to.constant = add(to.constant, from.constant, factor);
    return to;
}

LinearForm joined(const LinearForm& left, const LinearForm& right) {
    return left == right ? left : unknown((!left.known && left.loaded) || (!right.known && right.loaded));
}

LinearForm value_of(const record::LinearValue& value, const Registers& registers) {
    LinearForm form;
    form.constant = value.constant;
    if (value.first >= 0 && value.first < kRegisters)
        form = plus(form, registers[static_cast<size_t>(value.first)], value.first_factor);
    if (value.second >= 0 && value.second < kRegisters)
        form = plus(form, registers[static_cast<size_t>(value.second)], value.second_factor);
    return form;
}

LinearForm address_of(const Instruction& instruction, const shim::MemoryOperand& operand, const Registers& registers) {
    LinearForm form;
    form.constant = operand.displacement;
    if (operand.base == shim::kNextInstruction)
        form.constant += static_cast<int64_t>(instruction.end());
    else if (operand.base >= 0)
        form = plus(form, registers[static_cast<size_t>(operand.base)], 1);
    if (operand.index >= 0 && operand.index < kRegisters)
        form = plus(form, registers[static_cast<size_t>(operand.index)], operand.scale);
    return form;
}

class Rounds {
  public:
    Rounds(const ControlFlow& flow, const std::vector<RoundBlock>& round, const Loop& loop) : flow_(flow), round_(round), loop_(loop) {
        follow(); // to learn which registers move, and how
        find_steps();
        knows_steps_ = true;
        result_ = {};
        follow(); // again, with values that are loaded from places that stay
        find_steps();
        for (Stream& stream : result_.streams)
            set_walk(stream);
    }
    LoopStreams take() { return std::move(result_); }

  private:
    struct Step {
        enum class Kind : uint8_t { constant, run_time, chased, none } kind = Kind::none;
        int64_t bytes = 0;
    };

    void follow() {
        std::map<size_t, Registers> behind; // blocks
        latch_.reset();
        for (const RoundBlock& each : round_) {
            std::optional<Registers> registers;
            if (each.block == loop_.header) {
                registers.emplace();
                for (int i = 0; i < kRegisters; ++i)
                    (*registers)[static_cast<size_t>(i)] = symbol(i);
            } else {
                for (const size_t before : flow_.blocks[each.block].predecessors)
                    if (const auto found = behind.find(before); found != behind.end())
                        join(registers, found->second);
            }
            if (!registers)
                continue;
            for (size_t i = flow_.blocks[each.block].begin; i < flow_.blocks[each.block].end; ++i)
                pass(i, *registers);
            if (std::ranges::find(loop_.latches, each.block) != loop_.latches.end())
                join(latch_, *registers);
            behind.emplace(each.block, *registers);
        }
    }

    static void join(std::optional<Registers>& to, const Registers& from) {
        if (!to) {
            to = from;
            return;
        }
        for (size_t i = 0; i < to->size(); ++i)
            (*to)[i] = joined((*to)[i], from[i]);
    }

    void pass(size_t number, Registers& registers) {
        const Instruction& instruction = flow_.instructions[number];
        std::optional<LinearForm> kept; // what is loaded from a place that stays
        for (int i = 0; i < instruction.memory.operand_count; ++i) {
            const shim::MemoryOperand& operand = instruction.memory.operands[i];
            if (operand.stack)
                continue;
            Stream stream;
            stream.instruction = number;
            stream.load = operand.load;
            stream.store = operand.store;
            stream.floating = instruction.operation.element_bytes != 0;
            stream.width = operand.width;
            stream.address = operand.segment == shim::Segment::none ? address_of(instruction, operand, registers) : unknown(false);
            if (operand.load && !operand.store)
                kept = kept_value(stream.address);
            result_.streams.push_back(stream);
        }
        if (instruction.memory.gather) {
            Stream stream;
            stream.instruction = number;
            stream.load = instruction.operation.kind == Operation::Kind::gather;
            stream.floating = true;
            stream.address = unknown(true);
            result_.streams.push_back(stream);
        }
        if (instruction.flow == Flow::call) {
            for (int i = 0; i < kRegisters; ++i)
                if (!(kKeptByCalls >> i & 1))
                    registers[static_cast<size_t>(i)] = unknown(false);
            return;
        }
        if (instruction.step.changed >= 0) {
            registers[static_cast<size_t>(instruction.step.changed)] = value_of(instruction.step.value, registers);
            return;
        }
        bool loaded = instruction.loads();
        for (int i = 0; i < kRegisters; ++i)
            if (const LinearForm& form = registers[static_cast<size_t>(i)]; instruction.reads >> i & 1)
                loaded |= !form.known && form.loaded;
        const bool moves = instruction.memory.operand_count == 1 && !instruction.memory.operands[0].stack;
        for (int i = 0; i < kRegisters; ++i)
            if (instruction.writes >> i & 1)
                registers[static_cast<size_t>(i)] = kept && moves ? *kept : unknown(loaded);
    }

    // A symbol for what is loaded from `address`, if that is the same in all rounds.
    std::optional<LinearForm> kept_value(const LinearForm& address) {
        if (!knows_steps_ || !address.known || walk_of(address).kind != Step::Kind::constant || walk_of(address).bytes != 0)
            return std::nullopt;
        auto found = std::ranges::find(kept_, address);
        if (found == kept_.end()) {
            if (kept_.size() == LinearForm::kSymbols - kRegisters)
                return std::nullopt;
            found = kept_.insert(kept_.end(), address);
        }
        const bool on_stack = address.factors[kStackRegister] != 0 || address.factors[kFrameRegister] != 0;
        const int number = kRegisters + static_cast<int>(found - kept_.begin());
        kept_elsewhere_[static_cast<size_t>(number)] = !on_stack;
        return symbol(number);
    }

    // What the sum moves on in a round.
    Step walk_of(const LinearForm& form) const {
        Step sum{.kind = Step::Kind::constant, .bytes = 0};
        for (size_t i = 0; i < kRegisters; ++i) {
            if (form.factors[i] == 0)
                continue;
            if (steps_[i].kind == Step::Kind::constant)
                sum.bytes += form.factors[i] * steps_[i].bytes;
            else if (sum.kind == Step::Kind::constant || steps_[i].kind != Step::Kind::run_time)
                sum.kind = steps_[i].kind;
        }
        return sum;
    }

    void find_steps() {
        std::array<Step, kRegisters> steps;
        for (size_t i = 0; latch_ && i < steps.size(); ++i) {
            const LinearForm& end = (*latch_)[i];
            const LinearForm moved = plus(end, symbol(static_cast<int>(i)), -1);
            if (!end.known)
                steps[i].kind = end.loaded ? Step::Kind::chased : Step::Kind::none;
            else if (std::ranges::all_of(moved.factors, [](int64_t factor) { return factor == 0; }))
                steps[i] = {.kind = Step::Kind::constant, .bytes = moved.constant};
            else if (is_constant_sum(moved))
                steps[i].kind = Step::Kind::run_time;
        }
        steps_ = steps;
    }

    // Of registers that the loop does not change.
    bool is_constant_sum(const LinearForm& form) const {
        for (size_t i = 0; i < kRegisters; ++i)
            if (form.factors[i] != 0 && (!(*latch_)[i].known || (*latch_)[i] != symbol(static_cast<int>(i))))
                return false;
        return true;
    }

    void set_walk(Stream& stream) {
        if (!stream.address.known) {
            stream.walk = stream.address.loaded ? Stream::Walk::gathered : Stream::Walk::irregular;
            return;
        }
        const Step step = walk_of(stream.address);
        stream.stride = step.kind == Step::Kind::constant ? step.bytes : 0;
        stream.walk = step.kind == Step::Kind::run_time ? Stream::Walk::run_time
                      : step.kind == Step::Kind::chased ? Stream::Walk::chased
                      : step.kind == Step::Kind::none   ? Stream::Walk::irregular
                      : step.bytes == 0                 ? Stream::Walk::still
                                                        : Stream::Walk::strided;
        for (size_t i = kRegisters; i < LinearForm::kSymbols; ++i)
            result_.reloads_pointer |= stream.address.factors[i] == 1 && kept_elsewhere_[i] && stream.floating;
    }

    const ControlFlow& flow_;
    const std::vector<RoundBlock>& round_;
    const Loop& loop_;
    std::optional<Registers> latch_; // when the round ends
    std::array<Step, kRegisters> steps_{};
    bool knows_steps_ = false;
    std::vector<LinearForm> kept_; // addresses of what is loaded in each round from the same place
    std::array<bool, LinearForm::kSymbols> kept_elsewhere_{}; // not in the stack frame
    LoopStreams result_;
};

} // namespace

LoopStreams streams_of(const ControlFlow& flow, const std::vector<RoundBlock>& round, const Loop& loop) {
    return Rounds(flow, round, loop).take();
}

double touched_share(const LoopStreams& all) {
    double least = 1;
    std::vector<bool> done(all.streams.size());
    for (size_t i = 0; i < all.streams.size(); ++i) {
        const Stream& first = all.streams[i];
        if (done[i] || first.walk != Stream::Walk::strided || !first.floating)
            continue;
        std::vector<std::pair<int64_t, int64_t>> touched; // of one array, modulo its stride
        const int64_t stride = std::abs(first.stride);
        for (size_t j = i; j < all.streams.size(); ++j) {
            const Stream& each = all.streams[j];
            if (each.walk != Stream::Walk::strided || each.stride != first.stride || !each.address.same_symbols(first.address))
                continue;
            done[j] = true;
            const int64_t begin = ((each.address.constant - first.address.constant) % stride + stride) % stride;
            touched.push_back({begin, begin + each.width});
            if (begin + each.width > stride) // the end of one round's piece
                touched.push_back({0, begin + each.width - stride});
        }
        std::ranges::sort(touched);
        int64_t bytes = 0, end = 0;
        for (const auto& [begin, behind] : touched) {
            bytes += std::max<int64_t>(0, std::min(behind, stride) - std::max(begin, end));
            end = std::max(end, behind);
        }
        least = std::min(least, static_cast<double>(bytes) / static_cast<double>(stride));
    }
    return least;
}

} // namespace plumb::code
