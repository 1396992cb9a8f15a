// The code that stands for one rewritten instruction: counts the access if it is unaligned and the thread is armed,
// then executes the instruction and goes back behind it (x86-64).
//
//   aligned:  registers restored; the instruction; back
//   entry:    rcx saved; rcx = low bits of the operand's address; none set: aligned (no flag is touched so far)
//             rax saved; flags pushed below the red zone; alignment flag clear: aligned, with all restored
//             the thread's counters of the site; none: aligned, where the instruction traps and they are made
//             counted (these two steps only where accesses count); alignment flag cleared; all restored
//   step:     the instruction; alignment flag set; back
//
// rax and rcx are kept in thread-local variables, so that a misaligned stack is touched by the pushed flags only: where
// these trap, leave_trampoline() gives back the state in front of the instruction and the trap handler does the rest.
#pragma once

#include "platform/code/memory_instruction.h"
#include "platform/code/movable_code.h"

#include <plumb/trace_format.h>
#include <stddef.h>
#include <stdint.h>

namespace plumb::shim {

// Of thread-local variables from the thread pointer; the same in all threads.
struct TrampolineVariables {
    int32_t saved_rax, saved_rcx; // uint64_t
    int32_t counts;               // trace::AlignCount** by site id (thread_counts.h); it and its entries may be null
};

// What differs, at some place of the trampoline, from the program's own state.
enum TrampolineState : uint16_t {
    kRcxSaved = 1u << 0,
    kRaxSaved = 1u << 1,
    kRedZoneSkipped = 1u << 2,  // rsp is 128 lower
    kFlagsPushed = 1u << 3,     // and 8 more; the program's flags lie there
    kFlagCleared = 1u << 4,     // the alignment flag, which the program has set, is clear (also in pushed flags)
    kPageCounted = 1u << 5,     // if the access crosses a page
    kHitCounted = 1u << 6,
    kResidueCounted = 1u << 7,
    kExecuted = 1u << 8,        // the program stands behind the instruction
};

struct Trampoline {
    uint64_t address;     // of the instruction it stands for
    uint32_t site;        // AlignSite::id
    bool uncounted;       // only executes the instruction: of code whose accesses do not count
    uint16_t bytes;       // of the code
    uint16_t entry, step; // offsets into it
    uint16_t mark_count;
    uint64_t code;        // where it is
    MemoryOperand operand;
    MovableCode instruction;
    struct Mark {
        uint16_t offset; // from here on ...
        uint16_t state;  // ... this holds
    } marks[32];
};

inline constexpr size_t kMostTrampolineBytes = 512;

// Whether an access of this width can trap, and the trampoline can tell when: 2, 4, 8 and 10 bytes, and packed ones of 16
// and more, which trap on some processors, off a multiple of 16.
bool is_trapping_width(uint16_t width);

// Fills bytes, entry, step, marks for code at `trampoline->code`, from address, site, operand and instruction, and
// writes it to `code` (kMostTrampolineBytes). False: something is out of reach from there. Signal-safe.
bool emit_trampoline(Trampoline* trampoline, const TrampolineVariables& variables, uint8_t* code);

// `context` (a ucontext_t) of the calling thread stands in the trampoline: moves it to the instruction of the program
// or, when that has been executed, behind it, with the program's registers, flags and stack pointer. A count made for
// an instruction that has not been executed is taken back. Signal-safe.
void leave_trampoline(const Trampoline& trampoline, const TrampolineVariables& variables, void* context);

} // namespace plumb::shim
