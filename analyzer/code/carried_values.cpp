#include "code/carried_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace plumb::code {

namespace {

using Kind = Operation::Kind;
using Carry = CarriedValue::Kind;

constexpr RegisterSet bit(int number) { return RegisterSet{1} << number; }
constexpr int kRegisterNumbers = kX87 + 1;

struct Item {
    const Instruction* instruction;
    size_t number;
    bool always;
};

std::vector<Item> items_of(const ControlFlow& flow, const std::vector<RoundBlock>& round) {
    std::vector<Item> items;
    for (const RoundBlock& each : round)
        for (size_t i = flow.blocks[each.block].begin; i < flow.blocks[each.block].end; ++i)
            items.push_back({&flow.instructions[i], i, each.always});
    return items;
}

// Vector registers that a round reads before it writes them, and that it writes at all.
RegisterSet carried_registers(const std::vector<Item>& items) {
    RegisterSet read_first = 0, surely_written = 0, written = 0;
    for (const Item& item : items) {
        read_first |= item.instruction->reads & ~surely_written;
        written |= item.instruction->writes;
        if (item.always)
            surely_written |= item.instruction->writes;
    }
    return read_first & written & kVectorRegisters;
}

// What depends on a set of registers as they are when the round begins.
struct Forward {
    std::vector<RegisterSet> depending; // before each item
    RegisterSet at_end = 0;
};

Forward depending_on(const std::vector<Item>& items, RegisterSet set, size_t from = 0) {
    Forward forward;
    forward.depending.resize(items.size());
    for (size_t i = from; i < items.size(); ++i) {
        const Instruction& each = *items[i].instruction;
        forward.depending[i] = set;
        if (each.flow == Flow::call) {
            set = 0; // vector registers belong to the callee
            continue;
        }
        if (each.reads & set)
            set |= each.writes & kVectorRegisters;
        else if (items[i].always)
            set &= ~each.writes;
    }
    forward.at_end = set;
    return forward;
}

// Which items help to make `set` as it is when the round ends.
std::vector<bool> making(const std::vector<Item>& items, RegisterSet set) {
    std::vector<bool> helps(items.size());
    for (size_t i = items.size(); i-- > 0;) {
        const Instruction& each = *items[i].instruction;
        if (!(each.writes & set))
            continue;
        helps[i] = true;
        if (items[i].always)
            set &= ~each.writes;
        set |= each.reads & kVectorRegisters;
    }
    return helps;
}

// Both operands of an addition may be made of the value: x + x doubles it, no sum.
bool is_plain_sum(const Instruction& each, RegisterSet depending) {
    const RegisterSet of_value = each.reads & depending & kVectorRegisters;
    return std::popcount(of_value) == 1 && (of_value & each.addends) == of_value;
}

class Carried {
  public:
    Carried(const std::vector<Item>& items, const LoopStreams& streams) : items_(items), streams_(streams) {
        for (const Item& item : items)
            written_ |= item.instruction->writes;
    }

    // Of registers that depend on one another in a circle.
    CarriedValue value(RegisterSet circle) const {
        const Forward forward = depending_on(items_, circle);
        const std::vector<bool> helps = making(items_, circle);
        CarriedValue found;
        found.scalar = false;
        bool sums = true, products = true, extremes = true, elsewhere = false, steps_alike = true;
        size_t operations = 0;
        std::array<double, kRegisterNumbers> ready{};
        for (size_t i = 0; i < items_.size(); ++i) {
            const Instruction& each = *items_[i].instruction;
            const RegisterSet used = each.reads & forward.depending[i] & kVectorRegisters;
            if (!used)
                continue;
            if (!helps[i]) {
                elsewhere |= each.operation.kind != Kind::compare;
                continue;
            }
            double from = 0;
            for (int number = kFirstVector; number < kRegisterNumbers; ++number)
                if (used & bit(number))
                    from = std::max(from, ready[static_cast<size_t>(number)]);
            for (int number = kFirstVector; number < kRegisterNumbers; ++number)
                if (each.writes & bit(number))
                    ready[static_cast<size_t>(number)] = from + latency_of(each.operation);
            const Kind kind = each.operation.kind;
            if (kind == Kind::move || kind == Kind::arrange || kind == Kind::none)
                continue;
            ++operations;
            found.scalar |= each.operation.lanes == 1;
            found.element_bytes = std::max(found.element_bytes, each.operation.element_bytes);
            const bool adds = (kind == Kind::add || kind == Kind::fused) && is_plain_sum(each, forward.depending[i]);
            sums &= adds;
            products &= kind == Kind::multiply && std::popcount(used) == 1;
            extremes &= kind == Kind::extreme;
            steps_alike &= adds && is_the_same_each_round(items_[i]);
        }
        for (int number = kFirstVector; number < kRegisterNumbers; ++number)
            if (circle & bit(number))
                found.cycles = std::max(found.cycles, ready[static_cast<size_t>(number)]);
        if (operations == 0) // kept, or chosen: by comparing it
            found.kind = Carry::extreme;
        else if (sums && steps_alike)
            found.kind = elsewhere ? Carry::induction : Carry::sum;
        else if (elsewhere)
            found.kind = Carry::recurrence;
        else
            found.kind = sums ? Carry::sum : products ? Carry::product : extremes ? Carry::extreme : Carry::recurrence;
        return found;
    }

  private:
    // What an addition adds to the value: a register that the loop does not write, or memory that stays where it is.
    bool is_the_same_each_round(const Item& item) const {
        const Instruction& each = *item.instruction;
        if (each.operation.kind != Kind::add)
            return false;
        const RegisterSet others = each.reads & ~each.writes & kVectorRegisters;
        if (others & written_)
            return false;
        return std::ranges::none_of(streams_.streams, [&](const Stream& stream) {
            return stream.instruction == item.number && stream.walk != Stream::Walk::still;
        });
    }

    const std::vector<Item>& items_;
    const LoopStreams& streams_;
    RegisterSet written_ = 0;
};

// A load that a later round makes of what this one stored, and from which the stored value is made.
bool comes_back(const std::vector<Item>& items, const Stream& store, const Stream& load) {
    constexpr int64_t kMostRounds = 64;
    if (store.walk != Stream::Walk::strided || load.walk != Stream::Walk::strided || store.stride != load.stride ||
        !store.address.same_symbols(load.address))
        return false;
    const int64_t distance = store.address.constant - load.address.constant;
    if (distance == 0 || distance % store.stride != 0 || distance / store.stride < 1 || distance / store.stride > kMostRounds)
        return false;
    const auto place_of = [&](size_t number) {
        return static_cast<size_t>(std::ranges::find(items, number, &Item::number) - items.begin());
    };
    const size_t from = place_of(load.instruction), to = place_of(store.instruction);
    if (from >= to || to >= items.size())
        return false;
    const Forward forward = depending_on(items, items[from].instruction->writes & kVectorRegisters, from + 1);
    return (items[to].instruction->reads & forward.depending[to] & kVectorRegisters) != 0;
}

} // namespace

double latency_of(const Operation& operation) {
    const bool is_double = operation.element_bytes == 8;
    switch (operation.kind) {
    case Kind::add:
    case Kind::multiply:
    case Kind::fused:
    case Kind::extreme:
    case Kind::compare:
        return 4;
    case Kind::divide:
        return is_double ? 13 : 11;
    case Kind::square_root:
        return is_double ? 16 : 12;
    case Kind::convert_precision:
    case Kind::convert_integer:
        return 5;
    case Kind::arrange:
    case Kind::bitwise:
        return 1;
    case Kind::none:
    case Kind::move: // renamed
    case Kind::gather:
        break;
    }
    return 0;
}

std::vector<CarriedValue> carried_values(const ControlFlow& flow, const std::vector<RoundBlock>& round, const LoopStreams& streams) {
    const std::vector<Item> items = items_of(flow, round);
    const RegisterSet carried = carried_registers(items);
    std::map<int, RegisterSet> reaches; // of a register when the round begins: those it has gone into when the next one does
    for (int number = kFirstVector; number < kRegisterNumbers; ++number)
        if (carried & bit(number))
            reaches[number] = depending_on(items, bit(number)).at_end & carried;
    for (size_t turn = 0; turn < reaches.size(); ++turn) // over several rounds
        for (auto& [number, set] : reaches)
            for (const auto& [other, further] : reaches)
                if (set & bit(other))
                    set |= further;
    std::vector<CarriedValue> values;
    const Carried judge(items, streams);
    RegisterSet done = 0;
    for (const auto& [number, set] : reaches) {
        if (!(set & bit(number)) || done & bit(number))
            continue;
        RegisterSet circle = 0;
        for (const auto& [other, further] : reaches)
            if (set & bit(other) && further & bit(number))
                circle |= bit(other);
        done |= circle;
        values.push_back(judge.value(circle));
        if (std::popcount(circle) > 1 && values.back().kind != Carry::extreme)
            values.back().kind = Carry::recurrence;
    }
    for (const Stream& store : streams.streams)
        for (const Stream& load : streams.streams)
            if (store.store && load.load && store.floating && load.floating && comes_back(items, store, load)) {
                CarriedValue value;
                value.in_memory = true;
                value.cycles = 8; // store and load again, and at least one operation
                values.push_back(value);
                return values;
            }
    return values;
}

} // namespace plumb::code
