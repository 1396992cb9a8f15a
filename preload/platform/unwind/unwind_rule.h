// How to get from one frame to its caller: the part of DWARF call-frame information that matters here, in one word.
// Compilers address frames through the stack and the frame pointer only (rsp and rbp, sp and x29: `sp` and `bp` here), so those
// two registers and the return address are followed and no other; a function that needs more ends the walk there.
#pragma once

#include <stdint.h>

namespace plumb::shim {

// How the canonical frame address (CFA, the value of sp in the caller after the return) is found.
enum class CfaKind : uint8_t {
    none = 0,         // an empty cache entry, never a rule
    from_sp = 1,      // sp + offset
    from_bp = 2,      // bp + offset
    loaded_bp = 3,    // *(bp + offset): functions that realign their stack
    signal_frame = 4, // the kernel's signal frame: everything is in the saved context
    outermost = 5,    // the return address is undefined: the walk is complete
    unknown = 6,      // rules that are not followed here: the walk is cut
    no_table = 7,     // no unwind table covers the address: try the frame-pointer convention
    loaded_sp = 8,    // *(rsp + offset) + 8: assembler that keeps the rsp it was called with on its own stack
};

constexpr uint64_t kReturnAddressBytes = 8; // between the value of rsp at a function's entry and its CFA

// Where the caller's bp is.
enum class BpKind : uint8_t {
    kept = 0,   // still in bp
    at_cfa = 1, // *(CFA + offset)
    at_bp = 2,  // *(bp + offset)
    lost = 3,   // unknown: a caller that needs bp cannot be unwound
};

// Where the return address is.
enum class ReturnKind : uint8_t {
    below_cfa = 0, // *(CFA - 8): calls push it
    in_link = 1,   // still in the link register
    above_bp = 2,  // *(CFA + bp_offset + 8), beside the caller's bp: a frame record
    below_bp = 3,  // *(CFA + bp_offset - 8)
    at_offset = 4, // *(CFA + bp_offset), while bp is kept
};

struct UnwindRule {
    CfaKind cfa = CfaKind::unknown;
    BpKind bp = BpKind::kept;
    int32_t cfa_offset = 0;
    int32_t bp_offset = 0; // fits 24 bits, checked where rules are made
    ReturnKind ra = ReturnKind::below_cfa;

    static constexpr uint64_t kNoReturn = 7;
    uint64_t pack() const {
        // Three bits for each of kind and return: a kind from 8 on, where calls push the return address, has a return that there is
        // not.
        const uint64_t kind = static_cast<uint64_t>(cfa);
        return (kind & 7) | static_cast<uint64_t>(bp) << 3 | (kind < 8 ? static_cast<uint64_t>(ra) : kNoReturn) << 5 |
               (static_cast<uint64_t>(static_cast<uint32_t>(bp_offset)) & 0xffffff) << 8 |
               static_cast<uint64_t>(static_cast<uint32_t>(cfa_offset)) << 32;
    }

    static UnwindRule unpack(uint64_t word) {
        UnwindRule rule;
        const uint64_t ra = word >> 5 & 7;
        rule.cfa = static_cast<CfaKind>((word & 7) | (ra == kNoReturn ? 8 : 0));
        rule.bp = static_cast<BpKind>(word >> 3 & 3);
        rule.ra = ra == kNoReturn ? ReturnKind::below_cfa : static_cast<ReturnKind>(ra);
        rule.bp_offset = static_cast<int32_t>(static_cast<uint32_t>(word)) >> 8;
        rule.cfa_offset = static_cast<int32_t>(word >> 32);
        return rule;
    }

    bool uses_bp() const {
        return cfa == CfaKind::from_bp || cfa == CfaKind::loaded_bp || cfa == CfaKind::no_table || bp == BpKind::at_bp;
    }
};

} // namespace plumb::shim
