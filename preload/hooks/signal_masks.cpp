// Masks of the program's signals, and the calls that wait with another one.
#include "hooks/real_functions.h"
#include "record/signals/program_signals.h"

#include <errno.h>
#include <string.h>

using namespace plumb::shim;

namespace {

int set_mask(int how, const sigset_t* set, sigset_t* former) {
    if (const int error = program_sigmask(how, set, former)) {
        errno = error;
        return -1;
    }
    return 0;
}

// The old interface: the first 32 signals in an int.
sigset_t wide_mask(int mask) {
    sigset_t set;
    sigemptyset(&set);
    const auto word = static_cast<uint64_t>(static_cast<uint32_t>(mask));
    memcpy(&set, &word, sizeof word);
    return set;
}
int narrow_mask(const sigset_t& set) {
    int mask;
    memcpy(&mask, &set, sizeof mask);
    return mask;
}

int suspend(const sigset_t* mask) {
    const WaitMask wait(mask);
    return real_functions()->sigsuspend(wait.get());
}

} // namespace

extern "C" {

int hook_sigprocmask(int how, const sigset_t* set, sigset_t* former) { return set_mask(how, set, former); }

int hook_pthread_sigmask(int how, const sigset_t* set, sigset_t* former) {
    return program_sigmask(how, set, former);
}

int hook_sigblock(int mask) {
    const sigset_t set = wide_mask(mask);
    sigset_t former;
    return set_mask(SIG_BLOCK, &set, &former) == 0 ? narrow_mask(former) : -1;
}

int hook_sigsetmask(int mask) {
    const sigset_t set = wide_mask(mask);
    sigset_t former;
    return set_mask(SIG_SETMASK, &set, &former) == 0 ? narrow_mask(former) : -1;
}

int hook_sigsuspend(const sigset_t* mask) { return suspend(mask); }

int hook___xpg_sigpause(int number) {
    sigset_t mask;
    if (set_mask(SIG_BLOCK, nullptr, &mask) != 0 || sigdelset(&mask, number) != 0)
        return -1;
    return suspend(&mask);
}

int hook_sigpause(int old_mask) {
    const sigset_t mask = wide_mask(old_mask);
    return suspend(&mask);
}

int hook_ppoll(struct pollfd* descriptors, nfds_t count, const struct timespec* timeout, const sigset_t* mask) {
    const WaitMask wait(mask);
    return real_functions()->ppoll(descriptors, count, timeout, wait.get());
}

int hook_pselect(int count, fd_set* readable, fd_set* writable, fd_set* exceptional, const struct timespec* timeout,
                 const sigset_t* mask) {
    const WaitMask wait(mask);
    return real_functions()->pselect(count, readable, writable, exceptional, timeout, wait.get());
}

int hook_epoll_pwait(int descriptor, struct epoll_event* events, int most, int timeout, const sigset_t* mask) {
    const WaitMask wait(mask);
    return real_functions()->epoll_pwait(descriptor, events, most, timeout, wait.get());
}

int hook_epoll_pwait2(int descriptor, struct epoll_event* events, int most, const struct timespec* timeout,
                      const sigset_t* mask) {
    const WaitMask wait(mask);
    return real_functions()->epoll_pwait2(descriptor, events, most, timeout, wait.get());
}

int hook_sigpending(sigset_t* set) {
    const int result = real_functions()->sigpending(set);
    if (const uint64_t waiting = waiting_signals(); result == 0 && waiting != 0) {
        uint64_t word;
        memcpy(&word, set, sizeof word);
        word |= waiting;
        memcpy(set, &word, sizeof word);
    }
    return result;
}

int hook_sigwait(const sigset_t* set, int* number) {
    const ReallyBlocked blocked(set);
    return real_functions()->sigwait(set, number);
}

int hook_sigwaitinfo(const sigset_t* set, siginfo_t* info) {
    const ReallyBlocked blocked(set);
    return real_functions()->sigwaitinfo(set, info);
}

int hook_sigtimedwait(const sigset_t* set, siginfo_t* info, const struct timespec* timeout) {
    const ReallyBlocked blocked(set);
    return real_functions()->sigtimedwait(set, info, timeout);
}
}
