// The program's own signal dispositions and masks, while the shim owns some signals itself.
//
// The alignment trap needs SIGBUS and SIGTRAP: its handlers must be installed, and neither signal may be blocked in any
// thread that is armed (the kernel kills a process that faults with the signal blocked). The program must not notice:
// what it installs for these is kept here and called for what is its own; what it blocks of them is kept here, thread by
// thread, shown to it again, and held back until it unblocks them. Its handlers of every signal are entered through
// the shim, so that they see the context that the program would have had (record/align/natural_context.h).
//
// Everything is signal-safe and passes through, at the cost of one load, while nothing is owned.
#pragma once

#include <signal.h>
#include <stdint.h>

namespace plumb::shim {

// Takes over the signal: installs `handler` with SA_SIGINFO | SA_NODEFER, no altstack, all signals blocked but the
// synchronous ones; from now on sigaction() of the program goes to the table. 0 or a negative error number.
int own_signal(int number, void (*handler)(int, siginfo_t*, void*));

// Gives it back: the program's own disposition is installed.
void disown_signal(int number);
bool owns_signals();

// Called by the owner's handler for a signal that is the program's: what the kernel would have done. Calls its handler
// with its mask and flags, holds the signal back while the program blocks it, ignores it, or lets the default action
// happen (then it may return: the caller returns to the interrupted code, which raises the signal again).
void deliver_to_program(int number, siginfo_t* info, void* context);

// What the hooks of sigaction, signal, sigprocmask and their kin call. As the C library's functions, errors in errno.
int program_sigaction(int number, const struct sigaction* action, struct sigaction* former);
int program_sigmask(int how, const sigset_t* set, sigset_t* former); // returns an error number, as pthread_sigmask

// A mask that the program hands to a waiting call (sigsuspend, ppoll, pselect, epoll_pwait): without the owned signals.
sigset_t without_owned_signals(const sigset_t& mask);

// Of the calling thread: for a new thread to inherit, and for exec, which must hand on the mask as the program sees it.
uint64_t held_back_signals();            // bit number-1
void inherit_held_back_signals(uint64_t);
void restore_real_mask_before_exec();
void undo_restore_after_failed_exec();

} // namespace plumb::shim
