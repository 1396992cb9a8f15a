// Signal dispositions by system call: past every hook of sigaction, the shim's own included. Signal-safe; errno is
// untouched; functions return 0 or a negative error number.
#pragma once

#include <signal.h>
#include <stdint.h>

namespace plumb::shim {

using SignalHandler = void (*)(int, siginfo_t*, void*);

// Installs a handler with SA_SIGINFO | SA_RESTART | SA_ONSTACK. While it runs all signals are blocked but those of faults: a
// handler of the program's that interrupted it might leave by a jump.
int install_handler(int signal_number, SignalHandler handler);

// A handler, SIG_DFL or SIG_IGN with these SA_ flags and this mask.
int set_kernel_action(int signal_number, uint64_t handler, uint64_t flags, uint64_t mask);

// Back to the default action; signals on their way are lost rather than deadly.
int remove_handler(int signal_number);

// Whether nobody has touched the signal: its action is the default one.
bool has_default_action(int signal_number);

// Lets the calling thread receive it.
void unblock_signal(int signal_number);

} // namespace plumb::shim
