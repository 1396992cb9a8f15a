// Declares wrap_NAME for every function of the list, under the C library's own symbol. The C++ name differs, so that
// neither the system headers nor the compiler's knowledge of NAME get in the way.
#pragma once

#include "strings/string_functions.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

extern "C" {
#define PLUMB_X(result, name, parameters, arguments)                                                         \
    __attribute__((visibility("default"))) result wrap_##name parameters __asm__(#name);
PLUMB_STRING_FUNCTIONS(PLUMB_X)
#undef PLUMB_X
}
