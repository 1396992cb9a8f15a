// Declares hook_NAME for every hook, under the C library's own symbol: `hook_execve` is what the program finds as
// `execve`. The C++ name differs so that neither the system headers' exception specifications nor the compiler's
// built-in knowledge of NAME get in the way, and so that the shim cannot call its own hook by accident.
#pragma once

#include "hooks/hook_list.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>

extern "C" {
#define PLUMB_X(family, result, name, parameters)                                                            \
    __attribute__((visibility("default"))) result hook_##name parameters __asm__(#name);
PLUMB_EXPORTS(PLUMB_X)
#undef PLUMB_X
}
