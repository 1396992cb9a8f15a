// Executes the instructions of call-frame information: what is where on the stack at a place in the code. Signal-safe.
#pragma once

#include "platform/unwind/frame_expression.h"
#include "platform/unwind/unwind_registers.h"
#include "platform/unwind/unwind_rule.h"

namespace plumb::shim::cfi {

inline constexpr int kMaxStates = 8; // nesting of remember_state

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
    void saved_at_expression(uint64_t reg, Cursor expression);

    // Executes until the location passes `pc`. False: not understood.
    bool run(Cursor code, uint64_t location, uint64_t pc);
};

} // namespace plumb::shim::cfi
