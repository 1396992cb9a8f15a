// A program that confines itself with seccomp may be killed for any system call that it did not foresee: opening the
// trace to grow it, asking for a thread's id or CPU time. So recording ends at that point, and from then on the shim makes
// no system call. What was recorded stays, and the evidence says why there is no more.
//
// seccomp has no function in the C library; programs come through prctl (hooks/threads.cpp) or syscall()
// (hooks/system_calls.cpp).
#include "hooks/seccomp.h"

#include "record/align/alignment_collector.h"
#include "record/process/process.h"
#include "record/timer/timer_sampling.h"

#include <errno.h>

namespace plumb::shim {

void before_seccomp() {
    const int error_of_program = errno;
    yield_sampling_signal();
    errno = error_of_program;
}

void after_seccomp(bool in_force) {
    if (in_force)
        stop_alignment_trap();
    if (in_force)
        become_confined("the program restricted itself with seccomp; it is not recorded after that");
}

} // namespace plumb::shim
