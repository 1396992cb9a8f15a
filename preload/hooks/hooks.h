// Declares hook_NAME for every hook, under the C library's own symbol: `hook_execve` is what the program finds as
// `execve`. The C++ name differs so that neither the system headers' exception specifications nor the compiler's
// built-in knowledge of NAME get in the way, and so that the shim cannot call its own hook by accident.
#pragma once

#include "hooks/hook_list.h"

#include <aio.h>
#include <dlfcn.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/types.h>
#include <threads.h>
#include <ucontext.h>
#include <wordexp.h>

// The header's names for other functions of the same kind.
#undef setjmp
#undef sigpause

extern "C" {
#define PLUMB_X(family, result, name, parameters)                                                            \
    __attribute__((visibility("default"))) result hook_##name parameters __asm__(#name);
PLUMB_EXPORTS(PLUMB_X)
#undef PLUMB_X
}
