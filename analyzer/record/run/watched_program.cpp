#include "record/run/watched_program.h"

#include "record/run/crash_guard.h"
#include "record/run/executable.h"
#include "support/error.h"

#include <cerrno>
#include <poll.h>
#include <sys/wait.h>

namespace plumb::record {

void WatchedProgram::create(const std::vector<std::string>& command, const Child::Environment& usual,
                            const Child::Environment& other) {
    child_.emplace(command, usual, other, inheritance_);
}

void WatchedProgram::release(Child::Choice choice, const std::string& name) {
    CrashGuard::program_runs(signals_.fd());
    if (const int error = child_->release(choice); error != 0) {
        const ExecFailure failure = explain_exec_failure(name, error);
        throw Error(failure.text, failure.exit_status);
    }
}

// What the kernel has to say of it now.
void WatchedProgram::collect(const std::function<void()>& before_stop) {
    int status = 0;
    pid_t pid = 0;
    while ((pid = wait4(child_->pid(), &status, WNOHANG | WUNTRACED | WCONTINUED, &usage_)) > 0) {
        if (WIFSTOPPED(status)) {
            // Whoever started plumb sees it stop as it would see the program stop. Continuing plumb continues the
            // program: the signal is read and sent on.
            if (before_stop)
                before_stop();
            stop_watcher_ = stop_with(child_->pid());
        } else if (!WIFCONTINUED(status)) {
            wait_status_ = status;
            CrashGuard::program_ended(exit_status_of(status));
            has_ended_ = true;
            return;
        }
    }
    has_ended_ |= pid < 0 && errno == ECHILD;
}

bool WatchedProgram::reap(const std::function<void()>& before_end, const std::function<void()>& before_stop) {
    siginfo_t ended{};
    if (waitid(P_PID, child_->pid(), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0)
        before_end();
    collect(before_stop);
    return has_ended_;
}

void WatchedProgram::wait_for_end() noexcept {
    while (!has_ended_) {
        pollfd polled{signals_.fd(), POLLIN, 0};
        poll(&polled, 1, -1);
        forward_signals();
        collect({});
    }
}

} // namespace plumb::record
