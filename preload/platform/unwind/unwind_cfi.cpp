#include "platform/unwind/unwind_cfi.h"

#include "platform/unwind/unwind_registers.h"

#include <stddef.h>
#include <string.h>

namespace plumb::shim {
namespace {

constexpr int kMaxStates = 8;                         // nesting of remember_state
constexpr int kMaxOperands = 8;

enum PointerEncoding : uint8_t {
    kAbsolute = 0x00,
    kUleb = 0x01,
    kUdata2 = 0x02,
    kUdata4 = 0x03,
    kUdata8 = 0x04,
    kSleb = 0x09,
    kSdata2 = 0x0a,
    kSdata4 = 0x0b,
    kSdata8 = 0x0c,
    kPcRelative = 0x10,
    kDataRelative = 0x30,
    kOmitted = 0xff,
};

// A cursor that never leaves [at, end); reading past the end yields zeros and sets `bad`.
struct Cursor {
    const uint8_t* at;
    const uint8_t* end;
    bool bad = false;

    template <class T> T fixed() {
        T value{};
        if (static_cast<size_t>(end - at) < sizeof(T)) {
            bad = true;
            at = end;
            return value;
        }
        memcpy(&value, at, sizeof(T));
        at += sizeof(T);
        return value;
    }

    uint64_t uleb() {
        uint64_t value = 0;
        for (unsigned shift = 0; at < end; shift += 7) {
            const uint8_t byte = *at++;
            if (shift < 64)
                value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if (!(byte & 0x80))
                return value;
        }
        bad = true;
        return 0;
    }

    int64_t sleb() {
        uint64_t value = 0;
        for (unsigned shift = 0; at < end;) {
            const uint8_t byte = *at++;
            if (shift < 64)
                value |= static_cast<uint64_t>(byte & 0x7f) << shift;
            shift += 7;
            if (!(byte & 0x80)) {
                if ((byte & 0x40) && shift < 64)
                    value |= ~uint64_t{0} << shift;
                return static_cast<int64_t>(value);
            }
        }
        bad = true;
        return 0;
    }

    void skip(uint64_t bytes) {
        if (bytes > static_cast<uint64_t>(end - at)) {
            bad = true;
            at = end;
        } else {
            at += bytes;
        }
    }

    uint64_t pointer(uint8_t encoding, const void* data_base) {
        if (encoding == kOmitted)
            return 0;
        const uint64_t place = reinterpret_cast<uint64_t>(at);
        uint64_t value = 0;
        switch (encoding & 0x0f) {
        case kAbsolute:
        case kUdata8:
        case kSdata8:
            value = fixed<uint64_t>();
            break;
        case kUleb:
            value = uleb();
            break;
        case kUdata2:
            value = fixed<uint16_t>();
            break;
        case kUdata4:
            value = fixed<uint32_t>();
            break;
        case kSleb:
            value = static_cast<uint64_t>(sleb());
            break;
        case kSdata2:
            value = static_cast<uint64_t>(static_cast<int64_t>(fixed<int16_t>()));
            break;
        case kSdata4:
            value = static_cast<uint64_t>(static_cast<int64_t>(fixed<int32_t>()));
            break;
        default:
            bad = true;
        }
        if ((encoding & 0x70) == kPcRelative)
            value += place;
        else if ((encoding & 0x70) == kDataRelative)
            value += reinterpret_cast<uint64_t>(data_base);
        else if (encoding & 0x70)
            bad = true;
        return value;
    }
};

// One entry of .eh_frame without its length field; empty at the terminator and for what is not understood.
Cursor open_entry(const uint8_t* entry, const ReadableBytes& readable) {
    uint32_t length;
    if (!readable.contain(entry, sizeof length))
        return {entry, entry, true};
    memcpy(&length, entry, sizeof length);
    if (length == 0 || length == 0xffffffff) // terminator, 64-bit entries (never seen)
        return {entry, entry, true};
    if (!readable.contain(entry + 4, length))
        return {entry, entry, true};
    return {entry + 4, entry + 4 + length};
}

// Numbers of a damaged table may be anything: what does not fit wraps, and the rule is checked in the end.
int64_t plus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }
int64_t minus(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b)); }
int64_t times(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }

const uint8_t* find_entry(const uint8_t* header, uint64_t pc, const ReadableBytes& readable) {
    // version 1, count as udata4, table of (location, entry) as sdata4 relative to the header: what every linker
    // writes. Anything else counts as no table.
    if (!readable.contain(header, 32) || header[0] != 1 || header[2] != kUdata4 || header[3] != (kDataRelative | kSdata4))
        return nullptr;
    Cursor cursor{header + 4, header + 32};
    cursor.pointer(header[1], header);
    const uint32_t count = cursor.fixed<uint32_t>();
    if (cursor.bad || count == 0)
        return nullptr;
    struct Row {
        int32_t location, entry;
    };
    const uint8_t* const rows = cursor.at;
    if (!readable.contain(rows, uint64_t{count} * sizeof(Row)))
        return nullptr;
    const auto row = [rows](uint32_t number) { // a damaged header may lie anywhere
        Row copy;
        memcpy(&copy, rows + uint64_t{number} * sizeof copy, sizeof copy);
        return copy;
    };
    const int64_t offset = static_cast<int64_t>(pc - reinterpret_cast<uint64_t>(header));
    if (offset < row(0).location)
        return nullptr;
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (row(middle).location <= offset)
            low = middle;
        else
            high = middle;
    }
    return header + row(low).entry;
}

// A value that is known before the program runs: a number, or a register plus a number, or what is stored there plus a number.
struct Value {
    enum Base : uint8_t { number, sp, bp, unknown } base = unknown;
    bool loaded = false;
    int64_t offset = 0;
    int64_t addend = 0; // to what was loaded
};

// DWARF expressions, evaluated at `pc` as far as they are static. That covers procedure linkage tables
// (rsp + 8 + (pc in the second half of the slot ? 8 : 0)), realigned stacks (*(rbp - 8)), and assembler that keeps the rsp that it
// was called with (*(rsp + 128) + 8).
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

// The registers' rules while call-frame instructions are executed.
struct State {
    Value cfa;
    BpKind bp = BpKind::kept;
    int64_t bp_offset = 0;
    bool return_undefined = false;
    bool return_saved = !kReturnsByLink; // at CFA + return_offset; else it is in the link register
    int64_t return_offset = -8;
    bool unknown = false;
};

struct Machine {
    State state;
    State initial; // after the common entry's instructions, for restore
    State remembered[kMaxStates];
    int remembered_count = 0;
    uint64_t code_align = 1;
    int64_t data_align = -8;
    uint8_t pointer_encoding = kAbsolute;
    const void* data_base = nullptr;
    uint64_t program_pc = 0; // what expressions call the program counter

    // A register is saved at CFA + offset.
    void saved(uint64_t reg, int64_t offset) {
        if (reg == kUnwindBp) {
            state.bp = BpKind::at_cfa;
            state.bp_offset = offset;
        } else if (reg == kUnwindReturn) {
            state.return_undefined = false;
            state.return_saved = true;
            state.return_offset = offset;
        }
    }
    void restored(uint64_t reg) {
        if (reg == kUnwindBp) {
            state.bp = initial.bp;
            state.bp_offset = initial.bp_offset;
        } else if (reg == kUnwindReturn) {
            state.return_undefined = initial.return_undefined;
            state.return_saved = initial.return_saved;
            state.return_offset = initial.return_offset;
        }
    }
    void lost(uint64_t reg) {
        if (reg == kUnwindBp)
            state.bp = BpKind::lost;
        else if (reg == kUnwindReturn)
            state.unknown = true;
    }
    void undefined(uint64_t reg) {
        if (reg == kUnwindBp)
            state.bp = BpKind::lost;
        else if (reg == kUnwindReturn)
            state.return_undefined = true;
    }
    void same(uint64_t reg) {
        if (reg == kUnwindBp)
            state.bp = BpKind::kept;
        else if (reg == kUnwindReturn && kReturnsByLink)
            state.return_saved = state.return_undefined = false;
        else if (reg == kUnwindReturn)
            state.unknown = true;
    }
    void define_cfa(uint64_t reg, int64_t offset) {
        state.cfa = {reg == kUnwindSp ? Value::sp : reg == kUnwindBp ? Value::bp : Value::unknown, false, offset};
    }
    void saved_at_expression(uint64_t reg, Cursor expression) {
        if (reg == kUnwindReturn) {
            state.unknown = true;
        } else if (reg == kUnwindBp) {
            const Value place = evaluate(expression, program_pc);
            state.bp = place.base == Value::bp && !place.loaded ? BpKind::at_bp : BpKind::lost;
            state.bp_offset = place.offset;
        }
    }

    // Executes until the location passes `pc`. False: not understood.
    bool run(Cursor code, uint64_t location, uint64_t pc) {
        while (code.at < code.end && !code.bad) {
            const uint8_t op = code.fixed<uint8_t>();
            const uint8_t low = op & 0x3f;
            uint64_t advance = 0;
            switch (op >> 6) {
            case 1:
                advance = low;
                break;
            case 2:
                saved(low, times(static_cast<int64_t>(code.uleb()), data_align));
                continue;
            case 3:
                restored(low);
                continue;
            default:
                break;
            }
            if (op >> 6 == 0) {
                switch (op) {
                case 0x00: // nop
                    continue;
                case 0x01: // set_loc
                    location = code.pointer(pointer_encoding, data_base);
                    if (location > pc)
                        return !code.bad;
                    continue;
                case 0x02:
                    advance = code.fixed<uint8_t>();
                    break;
                case 0x03:
                    advance = code.fixed<uint16_t>();
                    break;
                case 0x04:
                    advance = code.fixed<uint32_t>();
                    break;
                case 0x05: { // offset_extended
                    const uint64_t reg = code.uleb();
                    saved(reg, times(static_cast<int64_t>(code.uleb()), data_align));
                    continue;
                }
                case 0x11: { // offset_extended_sf
                    const uint64_t reg = code.uleb();
                    saved(reg, times(code.sleb(), data_align));
                    continue;
                }
                case 0x2f: { // GNU_negative_offset_extended
                    const uint64_t reg = code.uleb();
                    saved(reg, minus(0, times(static_cast<int64_t>(code.uleb()), data_align)));
                    continue;
                }
                case 0x06: // restore_extended
                    restored(code.uleb());
                    continue;
                case 0x07:
                    undefined(code.uleb());
                    continue;
                case 0x08:
                    same(code.uleb());
                    continue;
                case 0x09: { // register
                    const uint64_t reg = code.uleb();
                    code.uleb();
                    lost(reg);
                    continue;
                }
                case 0x0a: // remember_state
                    if (remembered_count == kMaxStates)
                        return false;
                    remembered[remembered_count++] = state;
                    continue;
                case 0x0b: // restore_state
                    if (remembered_count == 0)
                        return false;
                    state = remembered[--remembered_count];
                    continue;
                case 0x0c: { // def_cfa
                    const uint64_t reg = code.uleb();
                    define_cfa(reg, static_cast<int64_t>(code.uleb()));
                    continue;
                }
                case 0x12: { // def_cfa_sf
                    const uint64_t reg = code.uleb();
                    define_cfa(reg, times(code.sleb(), data_align));
                    continue;
                }
                case 0x0d: // def_cfa_register
                    define_cfa(code.uleb(), state.cfa.offset);
                    continue;
                case 0x0e: // def_cfa_offset
                    state.cfa.offset = static_cast<int64_t>(code.uleb());
                    continue;
                case 0x13: // def_cfa_offset_sf
                    state.cfa.offset = times(code.sleb(), data_align);
                    continue;
                case 0x0f: { // def_cfa_expression
                    const uint64_t length = code.uleb();
                    const Cursor expression{code.at, code.end};
                    code.skip(length);
                    state.cfa = code.bad ? Value{} : evaluate({expression.at, code.at}, program_pc);
                    continue;
                }
                case 0x10: { // expression
                    const uint64_t reg = code.uleb();
                    const uint64_t length = code.uleb();
                    const Cursor expression{code.at, code.end};
                    code.skip(length);
                    if (!code.bad)
                        saved_at_expression(reg, {expression.at, code.at});
                    continue;
                }
                case 0x14: // val_offset
                case 0x15: { // val_offset_sf
                    const uint64_t reg = code.uleb();
                    code.uleb();
                    lost(reg);
                    continue;
                }
                case 0x16: { // val_expression
                    const uint64_t reg = code.uleb();
                    code.skip(code.uleb());
                    lost(reg);
                    continue;
                }
                case 0x2e: // GNU_args_size
                    code.uleb();
                    continue;
                case 0x2d: // AARCH64_negate_ra_state: from here on the return address is signed, or no more. See code_address().
                    if (!kReturnsByLink)
                        return false;
                    continue;
                default:
                    return false;
                }
            }
            location += advance * code_align;
            if (location > pc)
                return !code.bad;
        }
        return !code.bad;
    }
};

// A rule has one offset for the caller's bp and the return address, which compilers save side by side. False: these are not.
bool add_return(const State& state, UnwindRule* rule) {
    if (!kReturnsByLink)
        return state.return_offset == -8;
    if (!state.return_saved) {
        rule->ra = ReturnKind::in_link;
        return true;
    }
    const int64_t distance = minus(state.return_offset, state.bp_offset);
    if (state.bp == BpKind::at_cfa && (distance == 8 || distance == -8)) {
        rule->ra = distance == 8 ? ReturnKind::above_bp : ReturnKind::below_bp;
        return true;
    }
    rule->ra = ReturnKind::at_offset;
    rule->bp_offset = static_cast<int32_t>(state.return_offset);
    return state.bp == BpKind::kept && state.return_offset >= -(1 << 23) && state.return_offset < (1 << 23);
}

UnwindRule to_rule(const State& state) {
    UnwindRule rule;
    if (state.return_undefined)
        return {CfaKind::outermost, BpKind::kept, 0, 0};
    if (state.unknown || state.cfa.offset != static_cast<int32_t>(state.cfa.offset))
        return rule;
    rule.cfa_offset = static_cast<int32_t>(state.cfa.offset);
    if (state.cfa.base == Value::sp && !state.cfa.loaded)
        rule.cfa = CfaKind::from_sp;
    else if (!kReturnsByLink && state.cfa.base == Value::sp && state.cfa.addend == kReturnAddressBytes)
        rule.cfa = CfaKind::loaded_sp;
    else if (state.cfa.base == Value::bp && state.cfa.addend == 0)
        rule.cfa = state.cfa.loaded ? CfaKind::loaded_bp : CfaKind::from_bp;
    rule.bp = state.bp;
    if (state.bp_offset >= -(1 << 23) && state.bp_offset < (1 << 23))
        rule.bp_offset = static_cast<int32_t>(state.bp_offset);
    else
        rule.bp = BpKind::lost;
    return add_return(state, &rule) && !(kReturnsByLink && state.bp != rule.bp) ? rule : UnwindRule{};
}

// A description of some code (a frame description entry) and its common entry, both read up to their instructions.
struct Description {
    enum Kind { none, not_followed, followed } kind = none;
    Cursor common{nullptr, nullptr}, own{nullptr, nullptr};
    uint64_t begin = 0, bytes = 0; // the code that it describes
    bool is_signal_frame = false;
};

// The common entry that the one whose contents `fde` holds names; moves behind the name. `fde` becomes bad if it is a common one.
Cursor open_common_entry(Cursor* fde, const FrameEntries& entries) {
    const uint32_t common = entries.debug_frame ? 0xffffffff : 0; // what a common entry has in place of a name
    const uint8_t* const field = fde->at;
    const uint32_t name = fde->fixed<uint32_t>();
    fde->bad |= name == common;
    if (fde->bad)
        return {field, field, true};
    Cursor cie = open_entry(entries.debug_frame ? entries.debug_frame + name : field - name, entries.readable);
    cie.bad |= cie.fixed<uint32_t>() != common;
    return cie;
}

// Fills in of `machine` what the common entry says.
Description read_description(const uint8_t* entry, const void* data_base, const FrameEntries& entries, Machine* machine) {
    Description found;
    Cursor fde = open_entry(entry, entries.readable);
    Cursor cie = open_common_entry(&fde, entries);
    if (fde.bad)
        return found;
    found.kind = Description::not_followed;
    const uint8_t version = cie.fixed<uint8_t>();
    const char* const augmentation = reinterpret_cast<const char*>(cie.at);
    while (cie.at < cie.end && *cie.at)
        ++cie.at;
    cie.skip(1); // bad when the text has no end
    if (version == 4 && (cie.fixed<uint8_t>() != sizeof(void*) || cie.fixed<uint8_t>() != 0)) // size of addresses, of segments
        return found;

    machine->data_base = data_base;
    machine->code_align = cie.uleb();
    machine->data_align = cie.sleb();
    const uint64_t return_register = version == 1 ? cie.fixed<uint8_t>() : cie.uleb();
    if (cie.bad)
        return found;
    const bool sized = augmentation[0] == 'z';
    if (sized) {
        const uint64_t length = cie.uleb();
        Cursor data{cie.at, cie.end};
        cie.skip(length);
        data.end = cie.at;
        for (const char* letter = augmentation + 1; *letter && !data.bad; ++letter) {
            if (*letter == 'R')
                machine->pointer_encoding = data.fixed<uint8_t>();
            else if (*letter == 'L')
                data.fixed<uint8_t>();
            else if (*letter == 'P') {
                const uint8_t encoding = data.fixed<uint8_t>();
                data.pointer(encoding, data_base);
            } else if (*letter == 'S')
                found.is_signal_frame = true;
            else if (!(kReturnsByLink && *letter == 'B')) // of signed return addresses: by the second key
                return found;
        }
    } else if (augmentation[0]) {
        return found;
    }
    if (cie.bad || (version != 1 && version != 3 && version != 4) || return_register != kUnwindReturn)
        return found;

    found.begin = fde.pointer(machine->pointer_encoding, data_base);
    found.bytes = fde.pointer(machine->pointer_encoding & 0x0f, data_base);
    found.kind = fde.bad ? Description::none : Description::followed;
    if (sized)
        fde.skip(fde.uleb());
    found.common = cie;
    found.own = fde;
    return found;
}

UnwindRule rule_of(const uint8_t* entry, const void* data_base, uint64_t pc, const FrameEntries& entries) {
    const UnwindRule no_table{CfaKind::no_table, BpKind::kept, 0, 0};
    Machine machine;
    machine.program_pc = pc - entries.moved;
    const Description found = read_description(entry, data_base, entries, &machine);
    if (found.kind == Description::not_followed)
        return {};
    if (found.kind == Description::none || pc < found.begin || pc - found.begin >= found.bytes)
        return no_table;
    if (found.is_signal_frame)
        return {CfaKind::signal_frame, BpKind::kept, 0, 0};
    if (!machine.run(found.common, found.begin, UINT64_MAX))
        return {};
    machine.initial = machine.state;
    if (!machine.run(found.own, found.begin, pc))
        return {};
    return to_rule(machine.state);
}

} // namespace

UnwindRule read_unwind_rule(const void* header, uint64_t pc, ReadableBytes readable, uint64_t moved) {
    const uint8_t* entry = find_entry(static_cast<const uint8_t*>(header), pc, readable);
    return entry ? rule_of(entry, header, pc, {readable, nullptr, moved}) : UnwindRule{CfaKind::no_table, BpKind::kept, 0, 0};
}

UnwindRule read_entry_rule(const uint8_t* entry, uint64_t pc, const FrameEntries& entries) {
    return rule_of(entry, nullptr, pc, entries);
}

CodeRange read_entry_range(const uint8_t* entry, const FrameEntries& entries) {
    Machine machine;
    const Description found = read_description(entry, nullptr, entries, &machine);
    return found.kind == Description::followed ? CodeRange{found.begin, found.bytes} : CodeRange{};
}

} // namespace plumb::shim
