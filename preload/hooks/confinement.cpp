// A program that confines itself with seccomp may be killed for any system call that it did not foresee: opening the
// trace to grow it, asking for a thread's id or CPU time. So recording ends at that point, and from then on the shim makes
// no system call. What was recorded stays, and the evidence says why there is no more.
//
// seccomp has no function in the C library; programs come through prctl (hooks/threads.cpp) or syscall(). The
// latter is entered by a jump, because it may be anything: also vfork or clone, which return twice.
#include "hooks/confinement.h"

#include "hooks/real_functions.h"
#include "platform/tail_hook.h"
#include "record/align/alignment_collector.h"
#include "record/process.h"
#include "record/timer_sampling.h"

#include <errno.h>
#include <sys/syscall.h>

namespace plumb::shim {

void before_confinement() {
    const int error_of_program = errno;
    yield_sampling_signal();
    errno = error_of_program;
}

void after_confinement(bool in_force) {
    if (in_force)
        stop_alignment_trap();
    if (in_force)
        become_confined("the program confined itself with seccomp; it is not recorded from there on");
}

} // namespace plumb::shim

using namespace plumb::shim;

namespace {

long confine(long number, unsigned long operation, unsigned long flags, void* program) {
    before_confinement();
    const long result = real_functions()->syscall(number, operation, flags, program);
    constexpr unsigned long kSetStrict = 0, kSetFilter = 1; // SECCOMP_SET_MODE_*; others only ask
    after_confinement(result >= 0 && (operation == kSetStrict || operation == kSetFilter));
    return result;
}

} // namespace

extern "C" __attribute__((used)) void* plumb_before_syscall(long number) {
    if (number == SYS_seccomp)
        return reinterpret_cast<void*>(confine);
    return reinterpret_cast<void*>(real_functions()->syscall);
}

PLUMB_TAIL_HOOK(syscall, plumb_before_syscall);
