// Dispositions of the program's signals. The shim owns some signals itself at times (record/signals/program_signals.h,
// record/timer/timer_sampling.h); when it does not, everything here passes through at the cost of one load.
//
// The C library's older functions are written in terms of sigaction() here, because its own would call that past the
// hook.
#include "hooks/real_functions.h"
#include "record/signals/program_signals.h"
#include "record/timer/timer_sampling.h"

#include <errno.h>
#include <string.h>

using namespace plumb::shim;

namespace {

std::atomic<uint64_t> interrupting{0}; // what siginterrupt() asked of signal()

uint64_t bit_of(int number) { return uint64_t{1} << ((number - 1) & 63); }
bool is_sampling_signal(int number) { return number != 0 && number == sampling_signal(); }

// What signal() and its like do: returns the former handler or SIG_ERR.
sighandler_t set_handler(int number, sighandler_t handler, int flags, bool blocks_itself) {
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    struct sigaction action = {}, former;
    action.sa_handler = handler;
    action.sa_flags = flags;
    if (blocks_itself && number > 0 && number < NSIG)
        sigaddset(&action.sa_mask, number);
    return program_sigaction(number, &action, &former) == 0 ? former.sa_handler : SIG_ERR;
}

sighandler_t set_bsd_handler(int number, sighandler_t handler, sighandler_t (*real)(int, sighandler_t)) {
    if (is_sampling_signal(number))
        yield_sampling_signal();
    if (!owns_signals())
        return real(number, handler);
    const bool interrupts = (interrupting.load(std::memory_order_relaxed) & bit_of(number)) != 0;
    return set_handler(number, handler, interrupts ? 0 : SA_RESTART, true);
}

sighandler_t set_system_v_handler(int number, sighandler_t handler, sighandler_t (*real)(int, sighandler_t)) {
    if (is_sampling_signal(number))
        yield_sampling_signal();
    if (!owns_signals())
        return real(number, handler);
    constexpr int kInterrupt = 0x20000000; // SA_INTERRUPT: without a meaning, but the C library sets it
    return set_handler(number, handler, static_cast<int>(SA_RESETHAND) | SA_NODEFER | kInterrupt, false);
}

// Changes the mask by one signal; returns the former mask's word on it, or -1.
int change_one(int how, int number) {
    sigset_t one, former;
    sigemptyset(&one);
    if (sigaddset(&one, number) != 0)
        return -1;
    if (const int error = program_sigmask(how, &one, &former)) {
        errno = error;
        return -1;
    }
    return sigismember(&former, number);
}

} // namespace

extern "C" {

int hook_sigaction(int number, const struct sigaction* action, struct sigaction* former) {
    if (is_sampling_signal(number)) {
        if (!action) { // it only asks: as far as it knows, nobody has touched the signal
            if (former)
                memset(former, 0, sizeof *former);
            return 0;
        }
        yield_sampling_signal();
    }
    return program_sigaction(number, action, former);
}

sighandler_t hook_signal(int number, sighandler_t handler) {
    return set_bsd_handler(number, handler, real_functions()->signal);
}

sighandler_t hook_bsd_signal(int number, sighandler_t handler) {
    return set_bsd_handler(number, handler, real_functions()->bsd_signal);
}

sighandler_t hook_ssignal(int number, sighandler_t handler) {
    return set_bsd_handler(number, handler, real_functions()->ssignal);
}

sighandler_t hook_sysv_signal(int number, sighandler_t handler) {
    return set_system_v_handler(number, handler, real_functions()->sysv_signal);
}

sighandler_t hook___sysv_signal(int number, sighandler_t handler) {
    return set_system_v_handler(number, handler, real_functions()->__sysv_signal);
}

int hook_siginterrupt(int number, int interrupts) {
    if (number >= 1 && number < NSIG) {
        if (interrupts)
            interrupting.fetch_or(bit_of(number), std::memory_order_relaxed);
        else
            interrupting.fetch_and(~bit_of(number), std::memory_order_relaxed);
    }
    if (!owns_signals())
        return real_functions()->siginterrupt(number, interrupts);
    struct sigaction action;
    if (program_sigaction(number, nullptr, &action) != 0)
        return -1;
    action.sa_flags = interrupts ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return program_sigaction(number, &action, nullptr);
}

sighandler_t hook_sigset(int number, sighandler_t handler) {
    if (!owns_signals())
        return real_functions()->sigset(number, handler);
    const sighandler_t hold = reinterpret_cast<sighandler_t>(2); // SIG_HOLD
    sighandler_t former;
    int was_blocked;
    if (handler == hold) {
        was_blocked = change_one(SIG_BLOCK, number);
        struct sigaction action;
        if (was_blocked < 0 || program_sigaction(number, nullptr, &action) != 0)
            return SIG_ERR;
        former = action.sa_handler;
    } else {
        former = set_handler(number, handler, 0, false);
        if (former == SIG_ERR || (was_blocked = change_one(SIG_UNBLOCK, number)) < 0)
            return SIG_ERR;
    }
    return was_blocked ? hold : former;
}

int hook_sighold(int number) { return change_one(SIG_BLOCK, number) < 0 ? -1 : 0; }
int hook_sigrelse(int number) { return change_one(SIG_UNBLOCK, number) < 0 ? -1 : 0; }

int hook_sigignore(int number) {
    if (!owns_signals())
        return real_functions()->sigignore(number);
    return set_handler(number, SIG_IGN, 0, false) == SIG_ERR ? -1 : 0;
}
}
