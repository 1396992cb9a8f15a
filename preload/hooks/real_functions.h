// The functions behind the hooks: what the program would have called without the shim (the C library's, or another
// preload's or allocator's).
#pragma once

#include "hooks/hooks.h"
#include "platform/os/hidden.h"

#include <atomic>

namespace plumb::shim {

struct RealFunctions { // null: this C library has no such function
#define PLUMB_X(family, result, name, parameters) result(*name) parameters;
    PLUMB_HOOKS(PLUMB_X)
#undef PLUMB_X
};

extern std::atomic<const RealFunctions*> published_functions PLUMB_HIDDEN;

// What is published: for those who know that it has been.
extern RealFunctions filled_functions PLUMB_HIDDEN;

// Fills the table whole, then publishes it; once, at start or at the first hooked call, whichever is earlier. Null
// if the calling thread is filling it at this moment: dlsym itself may allocate, so the allocation hooks must be able
// to do without (a static buffer). No other hook is ever called then.
//
// The first call may come out of an allocator that is linked into the program, in the middle of its own start (it
// maps memory, or asks the kernel something through syscall()). So no lookup in here may fail: reporting a failure
// is what makes dlsym allocate, and the allocator would wait for itself.
const RealFunctions* resolve_real_functions();

// Looks up what older C libraries lack. From the constructor; until then these are null.
void resolve_recent_functions();

// One load once published.
inline const RealFunctions* real_functions() {
    const RealFunctions* functions = published_functions.load(std::memory_order_acquire);
    return __builtin_expect(functions != nullptr, 1) ? functions : resolve_real_functions();
}

} // namespace plumb::shim
