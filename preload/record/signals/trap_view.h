// What the handling of signals must know of the alignment trap. The trap gives itself in before it owns its first signal, so
// that signals/ need not know align/, which rests on it.
#pragma once

#include <stdint.h>

namespace plumb::shim {

// All signal-safe.
struct TrapView {
    // Whether the calling thread traps unaligned accesses at present, or will again within the current window.
    bool (*is_armed)();
    // See align/resume_at_original.h.
    void (*make_context_natural)(void* context);
    bool (*program_has_alignment_flag)();
    void (*give_alignment_flag_to_program)(bool set);
};

// From then on, in this process and its forked children.
void set_trap_view(const TrapView* view);

// Of a process without the trap: nothing is armed, all contexts are natural.
const TrapView& trap_view();

} // namespace plumb::shim
