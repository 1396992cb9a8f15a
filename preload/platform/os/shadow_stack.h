// Shadow stacks (x86-64, kernel 6.6, a C library that switches them on): the processor compares every return with a second
// copy of the return address. Whoever changes a return address on the stack, as the signal handlers' entry does, ends the
// process.
#pragma once

#include <stdint.h>

namespace plumb::shim {

// Asks the kernel for the features that are on in the calling thread: 0 or a negative error number. Replaced in tests.
extern long (*shadow_stack_status)(uint64_t* features);

// False where the kernel does not know them. All threads of a process have the same. Signal-safe, one system call.
bool shadow_stack_is_on();

} // namespace plumb::shim
