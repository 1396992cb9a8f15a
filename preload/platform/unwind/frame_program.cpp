#include "platform/unwind/frame_program.h"

namespace plumb::shim::cfi {

void Machine::saved_at_expression(uint64_t reg, Cursor expression) {
    if (reg == kUnwindReturn) {
        state.unknown = true;
    } else if (reg == kUnwindBp) {
        const Value place = evaluate(expression, program_pc);
        state.bp = place.base == Value::bp && !place.loaded ? BpKind::at_bp : BpKind::lost;
        state.bp_offset = place.offset;
    }
}

bool Machine::run(Cursor code, uint64_t location, uint64_t pc) {
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

} // namespace plumb::shim::cfi
