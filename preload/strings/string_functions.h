// Functions of the C library that move words at whatever address they are given, listed once: the list is expanded into
// the table of real ones, the wrappers and the export list. X(result, name, (parameters), (arguments)).
//
// Not here: what calls back into the program (qsort, bsearch), whose own accesses are to be seen.
#pragma once

#define PLUMB_MEMORY_FUNCTIONS(X)                                                                            \
    X(void*, memcpy, (void* to, const void* from, size_t n), (to, from, n))                                  \
    X(void*, memmove, (void* to, const void* from, size_t n), (to, from, n))                                 \
    X(void*, mempcpy, (void* to, const void* from, size_t n), (to, from, n))                                 \
    X(void*, memccpy, (void* to, const void* from, int c, size_t n), (to, from, c, n))                       \
    X(void*, memset, (void* to, int c, size_t n), (to, c, n))                                                \
    X(int, memcmp, (const void* a, const void* b, size_t n), (a, b, n))                                      \
    X(int, bcmp, (const void* a, const void* b, size_t n), (a, b, n))                                        \
    X(void, bcopy, (const void* from, void* to, size_t n), (from, to, n))                                    \
    X(void, bzero, (void* to, size_t n), (to, n))                                                            \
    X(void*, memchr, (const void* in, int c, size_t n), (in, c, n))                                          \
    X(void*, memrchr, (const void* in, int c, size_t n), (in, c, n))                                         \
    X(void*, rawmemchr, (const void* in, int c), (in, c))                                                    \
    X(void*, memmem, (const void* in, size_t n, const void* what, size_t m), (in, n, what, m))               \
    X(void*, __memcpy_chk, (void* to, const void* from, size_t n, size_t room), (to, from, n, room))         \
    X(void*, __memmove_chk, (void* to, const void* from, size_t n, size_t room), (to, from, n, room))        \
    X(void*, __mempcpy_chk, (void* to, const void* from, size_t n, size_t room), (to, from, n, room))        \
    X(void*, __memset_chk, (void* to, int c, size_t n, size_t room), (to, c, n, room))

#define PLUMB_TEXT_FUNCTIONS(X)                                                                              \
    X(size_t, strlen, (const char* s), (s))                                                                  \
    X(size_t, strnlen, (const char* s, size_t n), (s, n))                                                    \
    X(char*, strcpy, (char* to, const char* from), (to, from))                                               \
    X(char*, stpcpy, (char* to, const char* from), (to, from))                                               \
    X(char*, strncpy, (char* to, const char* from, size_t n), (to, from, n))                                 \
    X(char*, stpncpy, (char* to, const char* from, size_t n), (to, from, n))                                 \
    X(char*, strcat, (char* to, const char* from), (to, from))                                               \
    X(char*, strncat, (char* to, const char* from, size_t n), (to, from, n))                                 \
    X(char*, strdup, (const char* s), (s))                                                                   \
    X(char*, strndup, (const char* s, size_t n), (s, n))                                                     \
    X(int, strcmp, (const char* a, const char* b), (a, b))                                                   \
    X(int, strncmp, (const char* a, const char* b, size_t n), (a, b, n))                                     \
    X(int, strcasecmp, (const char* a, const char* b), (a, b))                                               \
    X(int, strncasecmp, (const char* a, const char* b, size_t n), (a, b, n))                                 \
    X(int, strcoll, (const char* a, const char* b), (a, b))                                                  \
    X(char*, strchr, (const char* s, int c), (s, c))                                                         \
    X(char*, strchrnul, (const char* s, int c), (s, c))                                                      \
    X(char*, strrchr, (const char* s, int c), (s, c))                                                        \
    X(char*, strstr, (const char* in, const char* what), (in, what))                                         \
    X(char*, strcasestr, (const char* in, const char* what), (in, what))                                     \
    X(size_t, strspn, (const char* s, const char* set), (s, set))                                            \
    X(size_t, strcspn, (const char* s, const char* set), (s, set))                                           \
    X(char*, strpbrk, (const char* s, const char* set), (s, set))                                            \
    X(char*, strtok_r, (char* s, const char* set, char** rest), (s, set, rest))                              \
    X(char*, strsep, (char** s, const char* set), (s, set))                                                  \
    X(char*, __strcpy_chk, (char* to, const char* from, size_t room), (to, from, room))                      \
    X(char*, __stpcpy_chk, (char* to, const char* from, size_t room), (to, from, room))                      \
    X(char*, __strcat_chk, (char* to, const char* from, size_t room), (to, from, room))                      \
    X(char*, __strncpy_chk, (char* to, const char* from, size_t n, size_t room), (to, from, n, room))        \
    X(char*, __strncat_chk, (char* to, const char* from, size_t n, size_t room), (to, from, n, room))

#define PLUMB_STREAM_FUNCTIONS(X)                                                                            \
    X(size_t, fwrite, (const void* from, size_t size, size_t n, FILE* file), (from, size, n, file))          \
    X(size_t, fread, (void* to, size_t size, size_t n, FILE* file), (to, size, n, file))                     \
    X(int, fputs, (const char* s, FILE* file), (s, file))                                                    \
    X(int, puts, (const char* s), (s))                                                                       \
    X(char*, fgets, (char* to, int n, FILE* file), (to, n, file))                                            \
    X(char*, getenv, (const char* name), (name))                                                             \
    X(char*, secure_getenv, (const char* name), (name))                                                      \
    X(char*, setlocale, (int category, const char* name), (category, name))

// The printf family with a va_list; the others are made of these in formats.cpp.
#define PLUMB_FORMAT_FUNCTIONS(X)                                                                            \
    X(int, vprintf, (const char* format, va_list list), (format, list))                                      \
    X(int, vfprintf, (FILE* file, const char* format, va_list list), (file, format, list))                   \
    X(int, vdprintf, (int to, const char* format, va_list list), (to, format, list))                         \
    X(int, vsprintf, (char* to, const char* format, va_list list), (to, format, list))                       \
    X(int, vsnprintf, (char* to, size_t room, const char* format, va_list list), (to, room, format, list))   \
    X(int, vasprintf, (char** to, const char* format, va_list list), (to, format, list))                     \
    X(int, __vprintf_chk, (int flag, const char* format, va_list list), (flag, format, list))                \
    X(int, __vfprintf_chk, (FILE* file, int flag, const char* format, va_list list),                         \
      (file, flag, format, list))                                                                            \
    X(int, __vsprintf_chk, (char* to, int flag, size_t room, const char* format, va_list list),              \
      (to, flag, room, format, list))                                                                        \
    X(int, __vsnprintf_chk,                                                                                  \
      (char* to, size_t n, int flag, size_t room, const char* format, va_list list),                         \
      (to, n, flag, room, format, list))                                                                     \
    X(int, __vasprintf_chk, (char** to, int flag, const char* format, va_list list), (to, flag, format, list))

#define PLUMB_STRING_FUNCTIONS(X)                                                                            \
    PLUMB_MEMORY_FUNCTIONS(X)                                                                                \
    PLUMB_TEXT_FUNCTIONS(X)                                                                                  \
    PLUMB_STREAM_FUNCTIONS(X)                                                                                \
    PLUMB_FORMAT_FUNCTIONS(X)
