// The process's unwind rules, found once for each code address and kept in a table that threads share without locks.
#pragma once

#include "platform/os/hidden.h"
#include "platform/unwind/unwind_rule.h"

namespace plumb::shim {

// Looks up what finding a module's unwind table needs. Call once, before threads and outside signal handlers (it
// uses dlsym). Without it every rule is no_table.
void start_unwinding();

// The rule at `pc` (for a return address: the address minus one). Signal-safe, thread-safe, 2 to 5 ns for an address
// seen before, 0.2 to 1 us for a new one.
UnwindRule find_unwind_rule(uint64_t pc);

// The packed rule at `pc` where it stands in its own slot of the table; 0: ask find_unwind_rule().
struct UnwindSlot {
    uint64_t pc;   // 0: free
    uint64_t rule; // UnwindRule::pack, 0: not known
};
inline constexpr uint32_t kUnwindSlotBits = 16;
extern UnwindSlot unwind_slots[1u << kUnwindSlotBits] PLUMB_HIDDEN;

inline uint32_t unwind_slot_of(uint64_t pc) {
    return static_cast<uint32_t>(pc * 0x9e3779b97f4a7c15u >> (64 - kUnwindSlotBits));
}

inline uint64_t known_unwind_rule(uint64_t pc) {
    const UnwindSlot& slot = unwind_slots[unwind_slot_of(pc)];
    return __builtin_expect(__atomic_load_n(&slot.pc, __ATOMIC_RELAXED) == pc, 1)
               ? __atomic_load_n(&slot.rule, __ATOMIC_RELAXED)
               : 0;
}

// Code was unmapped: other code may appear at its addresses. Thread-safe. Whoever keeps frames that were unwound by
// earlier rules compares unwind_generation().
void forget_unwind_rules();
extern uint32_t unwind_rules_forgotten PLUMB_HIDDEN;
inline uint32_t unwind_generation() { return __atomic_load_n(&unwind_rules_forgotten, __ATOMIC_RELAXED); }

} // namespace plumb::shim
