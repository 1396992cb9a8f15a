// The printf family with arguments in the call, made of the functions that take a va_list.
#include "strings/string_wrappers.h"

extern "C" {

#define PLUMB_FORMATTED(name, parameters, last, call)                                                        \
    __attribute__((visibility("default"))) int wrap_##name parameters __asm__(#name);                        \
    int wrap_##name parameters {                                                                             \
        va_list list;                                                                                        \
        va_start(list, last);                                                                                \
        const int written = call;                                                                            \
        va_end(list);                                                                                        \
        return written;                                                                                      \
    }

PLUMB_FORMATTED(printf, (const char* format, ...), format, wrap_vprintf(format, list))
PLUMB_FORMATTED(fprintf, (FILE * file, const char* format, ...), format, wrap_vfprintf(file, format, list))
PLUMB_FORMATTED(dprintf, (int to, const char* format, ...), format, wrap_vdprintf(to, format, list))
PLUMB_FORMATTED(sprintf, (char* to, const char* format, ...), format, wrap_vsprintf(to, format, list))
PLUMB_FORMATTED(snprintf, (char* to, size_t room, const char* format, ...), format,
                wrap_vsnprintf(to, room, format, list))
PLUMB_FORMATTED(asprintf, (char** to, const char* format, ...), format, wrap_vasprintf(to, format, list))
PLUMB_FORMATTED(__printf_chk, (int flag, const char* format, ...), format, wrap___vprintf_chk(flag, format, list))
PLUMB_FORMATTED(__fprintf_chk, (FILE * file, int flag, const char* format, ...), format,
                wrap___vfprintf_chk(file, flag, format, list))
PLUMB_FORMATTED(__sprintf_chk, (char* to, int flag, size_t room, const char* format, ...), format,
                wrap___vsprintf_chk(to, flag, room, format, list))
PLUMB_FORMATTED(__snprintf_chk, (char* to, size_t n, int flag, size_t room, const char* format, ...), format,
                wrap___vsnprintf_chk(to, n, flag, room, format, list))
PLUMB_FORMATTED(__asprintf_chk, (char** to, int flag, const char* format, ...), format,
                wrap___vasprintf_chk(to, flag, format, list))
}
