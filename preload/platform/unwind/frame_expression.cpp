#include "platform/unwind/frame_expression.h"

#include "platform/unwind/unwind_registers.h"

namespace plumb::shim::cfi {
namespace {

constexpr int kMaxOperands = 8;

} // namespace

Value evaluate(Cursor expression, uint64_t pc) {
    Value stack[kMaxOperands];
    int depth = 0;
    const auto push = [&](Value value) {
        if (depth == kMaxOperands)
            expression.bad = true;
        else
            stack[depth++] = value;
    };
    while (expression.at < expression.end && !expression.bad) {
        const uint8_t op = expression.fixed<uint8_t>();
        if (op >= 0x30 && op <= 0x4f) { // lit0..lit31
            push({Value::number, false, op - 0x30});
        } else if (op >= 0x70 && op <= 0x8f) { // breg0..breg31
            const int64_t offset = expression.sleb();
            if (op - 0x70 == kUnwindSp)
                push({Value::sp, false, offset});
            else if (op - 0x70 == kUnwindBp)
                push({Value::bp, false, offset});
            else if (op - 0x70 == kUnwindPc)
                push({Value::number, false, plus(static_cast<int64_t>(pc), offset)});
            else
                push({});
        } else if (op == 0x08) { // const1u
            push({Value::number, false, expression.fixed<uint8_t>()});
        } else if (op == 0x09) { // const1s
            push({Value::number, false, expression.fixed<int8_t>()});
        } else if (op == 0x06) { // deref
            if (depth == 0 || stack[depth - 1].loaded || stack[depth - 1].base == Value::number)
                return {};
            stack[depth - 1].loaded = true;
        } else if (op == 0x23) { // plus_uconst
            const uint64_t addend = expression.uleb();
            if (depth == 0)
                return {};
            int64_t& sum = stack[depth - 1].loaded ? stack[depth - 1].addend : stack[depth - 1].offset;
            sum = plus(sum, static_cast<int64_t>(addend));
        } else if (op == 0x1a || op == 0x1c || op == 0x22 || op == 0x24 || op == 0x2a) { // and minus plus shl ge
            if (depth < 2)
                return {};
            const Value right = stack[--depth];
            Value& left = stack[depth - 1];
            if (op == 0x22 && left.base == Value::number && right.base != Value::number) {
                const int64_t addend = left.offset;
                left = right;
                left.offset = plus(left.offset, addend);
                if (left.loaded)
                    return {};
                continue;
            }
            if (right.base != Value::number || left.loaded)
                return {};
            if (op == 0x22)
                left.offset = plus(left.offset, right.offset);
            else if (op == 0x1c)
                left.offset = minus(left.offset, right.offset);
            else if (left.base != Value::number)
                return {};
            else if (op == 0x1a)
                left.offset &= right.offset;
            else if (op == 0x24)
                left.offset = static_cast<int64_t>(static_cast<uint64_t>(left.offset) << (right.offset & 63));
            else
                left.offset = left.offset >= right.offset;
        } else {
            return {};
        }
    }
    return expression.bad || depth == 0 ? Value{} : stack[depth - 1];
}

} // namespace plumb::shim::cfi
