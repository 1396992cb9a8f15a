// The process's unwind rules, found once for each code address and kept in a table that threads share without locks.
#pragma once

#include "platform/unwind_rule.h"

namespace plumb::shim {

// Looks up what finding a module's unwind table needs. Call once, before threads and outside signal handlers (it
// uses dlsym). Without it every rule is no_table.
void start_unwinding();

// The rule at `pc` (for a return address: the address minus one). Signal-safe, thread-safe, 2 to 5 ns for an address
// seen before, 0.2 to 1 us for a new one.
UnwindRule find_unwind_rule(uint64_t pc);

// Code was unmapped: other code may appear at its addresses. Thread-safe. Whoever keeps frames that were unwound by
// earlier rules compares unwind_generation().
void forget_unwind_rules();
uint32_t unwind_generation();

} // namespace plumb::shim
