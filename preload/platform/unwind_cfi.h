// Reads call-frame information (.eh_frame) of x86-64 as the loader mapped it.
// Signal-safe, allocates nothing, takes no lock. Format: Linux Standard Base 5.0 ("Exception Frames"), DWARF 5
// section 6.4, System V ABI for x86-64.
#pragma once

#include "platform/unwind_rule.h"

namespace plumb::shim {

// The rule that holds at `pc` in the module whose .eh_frame_hdr is mapped at `header`.
// For a return address pass the address minus one: the call, not what follows it.
// CfaKind::no_table when no entry of the table covers `pc`.
UnwindRule read_unwind_rule(const void* header, uint64_t pc);

} // namespace plumb::shim
