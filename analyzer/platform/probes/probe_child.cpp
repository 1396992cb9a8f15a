#include "platform/probes/probe.h"

#include <cerrno>
#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb::platform {

int run_in_child(const std::function<int()>& action) {
    const pid_t child = fork();
    if (child < 0)
        return 255;
    if (child == 0) {
        const rlimit no_core{0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        signal(SIGALRM, SIG_DFL);
        sigset_t alarm_alone; // the caller may have blocked all signals
        sigemptyset(&alarm_alone);
        sigaddset(&alarm_alone, SIGALRM);
        sigprocmask(SIG_UNBLOCK, &alarm_alone, nullptr);
        alarm(2);
        _exit(action());
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace plumb::platform
