#include "platform/unwind/unwind_cfi.h"

#include "platform/unwind/frame_cursor.h"
#include "platform/unwind/frame_program.h"
#include "platform/unwind/unwind_registers.h"

#include <stddef.h>
#include <string.h>

namespace plumb::shim {
namespace {

using namespace cfi;

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
