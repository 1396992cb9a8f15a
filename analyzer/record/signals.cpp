#include "record/signals.h"

#include "support/error.h"

#include <cerrno>
#include <cstring>
#include <sys/signalfd.h>
#include <unistd.h>

namespace plumb::record {

SignalForwarder::SignalForwarder() {
    sigset_t handled;
    sigfillset(&handled);
    for (const int deadly : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS})
        sigdelset(&handled, deadly);
    sigprocmask(SIG_BLOCK, &handled, &mask_before_);
    // An ignored SIGCHLD would make the kernel reap the target before its status is known.
    struct sigaction by_default {};
    by_default.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &by_default, nullptr);
    fd_ = signalfd(-1, &handled, SFD_CLOEXEC | SFD_NONBLOCK);
    if (fd_ < 0)
        throw Error(std::string("cannot read signals: signalfd: ") + strerror(errno));
}

SignalForwarder::~SignalForwarder() {
    signalfd_siginfo unread;
    while (read(fd_, &unread, sizeof unread) == sizeof unread) {}
    close(fd_);
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

bool SignalForwarder::forward_to(pid_t target) {
    bool child_changed = false;
    signalfd_siginfo info;
    while (read(fd_, &info, sizeof info) == sizeof info) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (signal == SIGCHLD) {
            child_changed = true;
        } else if (info.ssi_code == SI_QUEUE) {
            sigval value;
            value.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr);
            sigqueue(target, signal, value);
        } else if (info.ssi_code <= 0 && info.ssi_pid != static_cast<uint32_t>(target)) {
            // Sent by a process (codes above 0 are the kernel's). What the target itself sent to its group or its
            // parent it must not get back.
            kill(target, signal);
        } else if (signal == SIGALRM) {
            // An alarm that was set before plumb was exec'd was meant for the program (perl -e 'alarm 9; exec ..').
            kill(target, signal);
        }
    }
    return child_changed;
}

} // namespace plumb::record
