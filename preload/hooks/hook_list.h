// Every function of the C library that the shim stands in front of, listed once. The list is expanded into the
// table of real functions (real_functions.h), the declarations of the hooks (hooks.h), the linker's export list
// (exports.map.in) and the test that compares the library's symbols with it. To add a hook: a line here and its
// definition hook_NAME in the file of its family.
//
// X(family, result, name, (parameters)). The function must be as old as glibc 2.26, or be named among those that are
// looked up late in real_functions.cpp. Preprocessor lines only: the export list includes this file.
//
// Not here, on purpose:
//   exit       on_exit() also sees the return from main, and runs after all destructors
//   fork       pthread_atfork() also sees fork inside forkpty, daemon and other libraries
//   vfork, clone  return twice on one stack, which no wrapper survives; their children are told apart by their pid
//   posix_spawn, system, popen   their children are seen from inside when they are recorded themselves
//   operator new, operator delete   libstdc++'s call malloc and are seen there. Those of allocators that bring their own
//              are not (the heap's evidence says so): standing in front of them would also catch libraries that
//              dlopen(RTLD_LOCAL) gives their own operators, which no RTLD_NEXT finds from here
//   exit_group, thread exits by system call   nothing can be done inside a process that ends like that
#pragma once

#define PLUMB_PROCESS_HOOKS(X)                                                                               \
    X(process, pid_t, _Fork, (void))                                                                         \
    X(process, int, execl, (const char* path, const char* argument, ...))                                    \
    X(process, int, execle, (const char* path, const char* argument, ...))                                   \
    X(process, int, execlp, (const char* file, const char* argument, ...))                                   \
    X(process, int, execv, (const char* path, char* const* arguments))                                       \
    X(process, int, execve, (const char* path, char* const* arguments, char* const* environment))            \
    X(process, int, execveat,                                                                                \
      (int directory, const char* path, char* const* arguments, char* const* environment, int flags))        \
    X(process, int, execvp, (const char* file, char* const* arguments))                                      \
    X(process, int, execvpe, (const char* file, char* const* arguments, char* const* environment))           \
    X(process, int, fexecve, (int descriptor, char* const* arguments, char* const* environment))             \
    X(process, void, _exit, (int status))                                                                    \
    X(process, void, _Exit, (int status))                                                                    \
    X(process, void, quick_exit, (int status))                                                               \
    X(process, void, abort, (void))

#define PLUMB_THREAD_HOOKS(X)                                                                                \
    X(thread, int, pthread_create,                                                                           \
      (pthread_t * thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument))       \
    X(thread, int, thrd_create, (thrd_t * thread, int (*routine)(void*), void* argument))                    \
    X(thread, int, pthread_setname_np, (pthread_t thread, const char* name))                                 \
    X(thread, int, prctl,                                                                                    \
      (int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d))

// Confinement by seccomp: see hooks/confinement.cpp.
#define PLUMB_CONFINEMENT_HOOKS(X) X(confinement, long, syscall, (long number, ...))

#define PLUMB_DL_HOOKS(X)                                                                                    \
    X(dl, void*, dlopen, (const char* file, int mode))                                                       \
    X(dl, void*, dlmopen, (Lmid_t name_space, const char* file, int mode))                                   \
    X(dl, int, dlclose, (void* handle))

// Where main begins: hooks/start_main.cpp.
#define PLUMB_START_HOOKS(X)                                                                                 \
    X(start, int, __libc_start_main,                                                                         \
      (int (*main)(int, char**, char**), int count, char** arguments, void (*begin)(), void (*end)(),        \
       void (*end_of_loader)(), void* stack_end))

// Only to keep the sampling timer's signal apart from the program's own signals.
#define PLUMB_SIGNAL_HOOKS(X)                                                                                \
    X(signal, int, sigaction, (int number, const struct sigaction* action, struct sigaction* former))        \
    X(signal, sighandler_t, signal, (int number, sighandler_t handler))                                      \
    X(signal, int, sigprocmask, (int how, const sigset_t* set, sigset_t* former))                            \
    X(signal, int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* former))

// The allocation family (hooks/alloc*.cpp). These may be called before the table of real functions is there.
#define PLUMB_ALLOC_HOOKS(X)                                                                                 \
    X(alloc, void*, malloc, (size_t bytes))                                                                  \
    X(alloc, void*, calloc, (size_t count, size_t size))                                                     \
    X(alloc, void*, realloc, (void* block, size_t bytes))                                                    \
    X(alloc, void*, reallocarray, (void* block, size_t count, size_t size))                                  \
    X(alloc, void, free, (void* block))                                                                      \
    X(alloc, int, posix_memalign, (void** place, size_t alignment, size_t bytes))                            \
    X(alloc, void*, aligned_alloc, (size_t alignment, size_t bytes))                                         \
    X(alloc, void*, memalign, (size_t alignment, size_t bytes))                                              \
    X(alloc, void*, valloc, (size_t bytes))                                                                  \
    X(alloc, void*, pvalloc, (size_t bytes))                                                                 \
    X(alloc, size_t, malloc_usable_size, (void* block))                                                      \
    X(alloc, void*, mmap,                                                                                    \
      (void* where, size_t bytes, int protection, int flags, int descriptor, off_t offset))                  \
    X(alloc, void*, mmap64,                                                                                  \
      (void* where, size_t bytes, int protection, int flags, int descriptor, off64_t offset))                \
    X(alloc, int, munmap, (void* address, size_t bytes))                                                     \
    X(alloc, void*, mremap, (void* former, size_t former_bytes, size_t bytes, int flags, ...))               \
    X(alloc, void*, sbrk, (intptr_t increment))

// Not hooks, nothing stands behind them: what the public interface finds of the tool (hooks/public_api.cpp).
#define PLUMB_API_FUNCTIONS(X)                                                                                   \
    X(api, int, plumb_tool_is_recording, (void))                                                             \
    X(api, void, plumb_tool_region, (const char* name, int begins))

#define PLUMB_HOOKS(X)                                                                                       \
    PLUMB_PROCESS_HOOKS(X)                                                                                   \
    PLUMB_THREAD_HOOKS(X)                                                                                    \
    PLUMB_CONFINEMENT_HOOKS(X)                                                                               \
    PLUMB_DL_HOOKS(X)                                                                                        \
    PLUMB_START_HOOKS(X)                                                                                     \
    PLUMB_SIGNAL_HOOKS(X)                                                                                    \
    PLUMB_ALLOC_HOOKS(X)

// Everything that the library exports.
#define PLUMB_EXPORTS(X)                                                                                     \
    PLUMB_HOOKS(X)                                                                                           \
    PLUMB_API_FUNCTIONS(X)
