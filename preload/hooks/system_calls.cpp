// What programs do by syscall() and the shim must know of. The hook is entered by a jump, because the call may be anything:
// also vfork, or a clone that returns on another stack.
//
//  - seccomp: hooks/seccomp.cpp.
//  - fork, and clone without shared memory: the alignment flag is clear meanwhile and in the child, which records nothing.
//    Such children (sandboxes) often put all signals back before they execute another program.
//  - rt_sigaction and rt_sigprocmask while the shim owns signals: browsers do that in children, past the C library.
#include "hooks/real_functions.h"
#include "hooks/seccomp.h"
#include "platform/code/alignment_flag.h"
#include "platform/code/tail_hook.h"
#include "record/signals/program_signals.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

using namespace plumb::shim;

namespace {

long confine(long number, unsigned long operation, unsigned long flags, void* program) {
    before_seccomp();
    const long result = real_functions()->syscall(number, operation, flags, program);
    constexpr unsigned long kSetStrict = 0, kSetFilter = 1; // SECCOMP_SET_MODE_*; others only ask
    after_seccomp(result >= 0 && (operation == kSetStrict || operation == kSetFilter));
    return result;
}

#if defined(__x86_64__)
long fork_process(long number, long a, long b, long c, long d, long e) {
    long result;
    {
        const SignalsAsTheProgramSees signals;
        result = real_functions()->syscall(number, a, b, c, d, e);
    }
    if (result == 0)
        clear_alignment_flag();
    return result;
}

bool shares_nothing(unsigned long flags, unsigned long stack) { return !(flags & (CLONE_VM | CLONE_VFORK)) && stack == 0; }

struct KernelAction {
    void (*handler)(int, siginfo_t*, void*);
    unsigned long flags;
    void (*restorer)();
    uint64_t mask;
};

// The shim stands in front of the other signals' handlers, too. The C library keeps two for itself.
bool is_kept_apart(unsigned long number) {
    return number >= 1 && number < NSIG && number != SIGKILL && number != SIGSTOP && number != 32 && number != 33 &&
           owns_signals();
}

// The C library's way back from handlers takes the place of the program's own: they do the same.
long change_action(long, unsigned long number, const KernelAction* wanted, KernelAction* former, size_t mask_bytes) {
    if (mask_bytes != sizeof wanted->mask) {
        errno = EINVAL;
        return -1;
    }
    struct sigaction action = {}, was = {};
    if (wanted) {
        action.sa_sigaction = wanted->handler;
        action.sa_flags = static_cast<int>(wanted->flags);
        memcpy(&action.sa_mask, &wanted->mask, sizeof wanted->mask);
    }
    if (program_sigaction(static_cast<int>(number), wanted ? &action : nullptr, &was) != 0)
        return -1;
    if (former) {
        KernelAction before = {};
        before.handler = was.sa_sigaction;
        before.flags = static_cast<unsigned long>(static_cast<unsigned>(was.sa_flags));
        memcpy(&before.mask, &was.sa_mask, sizeof before.mask);
        *former = before;
    }
    return 0;
}

long change_mask(long, int how, const uint64_t* wanted, uint64_t* former, size_t mask_bytes) {
    if (mask_bytes != sizeof *wanted) {
        errno = EINVAL;
        return -1;
    }
    sigset_t set = {}, was = {};
    if (wanted)
        memcpy(&set, wanted, sizeof *wanted);
    if (const int error = program_sigmask(how, wanted ? &set : nullptr, &was)) {
        errno = error;
        return -1;
    }
    if (former)
        memcpy(former, &was, sizeof *former);
    return 0;
}
#endif

template <class Function> void* address_of(Function* function) { return reinterpret_cast<void*>(function); }

} // namespace

extern "C" __attribute__((used)) void* plumb_before_syscall(long number, [[maybe_unused]] unsigned long first,
                                                            [[maybe_unused]] unsigned long second) {
    switch (number) {
    case SYS_seccomp: return address_of(confine);
#if defined(__x86_64__)
    case SYS_fork: return address_of(fork_process);
    case SYS_clone:
        if (shares_nothing(first, second))
            return address_of(fork_process);
        break;
    case SYS_rt_sigaction:
        if (is_kept_apart(first))
            return address_of(change_action);
        break;
    case SYS_rt_sigprocmask:
        if (first <= SIG_SETMASK && !signals_pass_through()) // others ask whether they may read what the mask points to
            return address_of(change_mask);
        break;
#endif
    default: break;
    }
    return address_of(real_functions()->syscall);
}

PLUMB_TAIL_HOOK(syscall, plumb_before_syscall);
