// A step over one instruction: EFLAGS.TF is set in the context that a signal handler returns to, and the processor raises SIGTRAP
// behind the instruction that follows.
#pragma once

#include <signal.h>
#include <stdint.h>

namespace plumb::shim {

inline constexpr uint64_t kSingleStepFlag = 1u << 8;

// Whether SIGTRAP came from the processor's debug exception, as at the end of a step. Hypervisors lose the bit of DR6 that says
// what the exception was for (three times in 1.3 million steps on a loaded machine); the kernel then reports TRAP_BRKPT, which
// otherwise only the instruction INT1 makes. INT3 has SI_KERNEL.
inline bool is_debug_exception(const siginfo_t& info) { return info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT; }

} // namespace plumb::shim
