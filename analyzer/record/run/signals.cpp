#include "record/run/signals.h"

#include "platform/task_stat.h"
#include "support/error.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <sys/signalfd.h>
#include <sys/wait.h>
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

bool SignalForwarder::forward_to(pid_t target, pid_t except) { return forward_signals(fd_, target, except); }

int exit_status_of(int wait_status) {
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

bool forward_signals(int fd, pid_t target, pid_t except) {
    bool child_changed = false;
    signalfd_siginfo info;
    while (read(fd, &info, sizeof info) == sizeof info) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (except != 0 && info.ssi_pid == static_cast<uint32_t>(except) && info.ssi_code <= 0)
            continue;
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

pid_t stop_with(pid_t target) {
    // Who stopped the target by its number will continue it by its number: this process would sleep on. A watcher
    // tells it.
    const pid_t self = getpid();
    const auto state = [](pid_t pid) {
        const auto stat = platform::read_process_stat("/proc", static_cast<uint32_t>(pid));
        return stat ? stat->state : '?';
    };
    const pid_t watcher = fork();
    if (watcher == 0) {
        constexpr timespec kPause{0, 20'000'000};
        while (getppid() == self) {
            nanosleep(&kPause, nullptr);
            const char target_state = state(target);
            if (state(self) == 'T' && target_state != 'T' && target_state != 't')
                kill(self, SIGCONT);
        }
        _exit(0);
    }
    raise(SIGSTOP);
    if (watcher < 0)
        return 0;
    kill(watcher, SIGKILL);
    while (waitpid(watcher, nullptr, 0) < 0 && errno == EINTR) {}
    return watcher;
}

} // namespace plumb::record
