// Signals while the target runs. They are blocked in the recorder and read from a descriptor, so that no handler of
// it exists that the target could inherit.
//
//  - What someone sent to the recorder (kill, sigqueue) is sent on to the target.
//  - What the terminal makes (Ctrl-C, Ctrl-\, Ctrl-Z, a hang-up) reaches the whole process group, the target
//    included, and is only swallowed here.
//  - Faults of the recorder itself (SIGSEGV and its kind) are not among them: see crash_guard.h.
#pragma once

#include <csignal>
#include <sys/types.h>

namespace plumb::record {

class SignalForwarder {
  public:
    SignalForwarder(); // blocks; make it after Inheritance::now() and before the fork
    ~SignalForwarder(); // what came meanwhile was for the target; from then on signals are our own again
    SignalForwarder(const SignalForwarder&) = delete;
    SignalForwarder& operator=(const SignalForwarder&) = delete;

    int fd() const { return fd_; } // readable: something came

    // Reads what came and sends on to `target` what is to be sent on. True if a SIGCHLD was among it.
    // What `except` sent is not sent on.
    bool forward_to(pid_t target, pid_t except = 0);

  private:
    int fd_ = -1;
    sigset_t mask_before_;
};

// What forward_to() does, by system calls alone: for a process that has crashed. `fd`: of a SignalForwarder.
bool forward_signals(int fd, pid_t target, pid_t except = 0);

// What a shell reports of a process that ended so: 128+N for signal N.
int exit_status_of(int wait_status);

// Stops this process, as its target was stopped, until someone continues either of the two. Returns the process that
// watched the target meanwhile (it has ended, and its SIGCONT is none to send on), or 0.
pid_t stop_with(pid_t target);

} // namespace plumb::record
