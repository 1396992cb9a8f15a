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
//   vfork      returns twice on one stack, which no wrapper survives; its children are recognised by their pid
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

// What programs do by system calls of their own: see hooks/system_calls.cpp.
#define PLUMB_SYSTEM_CALL_HOOKS(X) X(system_call, long, syscall, (long number, ...))

#define PLUMB_DL_HOOKS(X)                                                                                    \
    X(dl, void*, dlopen, (const char* file, int mode))                                                       \
    X(dl, void*, dlmopen, (Lmid_t name_space, const char* file, int mode))                                   \
    X(dl, int, dlclose, (void* handle))

// Where main begins: hooks/start_main.cpp.
#define PLUMB_START_HOOKS(X)                                                                                 \
    X(start, int, __libc_start_main,                                                                         \
      (int (*main)(int, char**, char**), int count, char** arguments, void (*begin)(), void (*end)(),        \
       void (*end_of_loader)(), void* stack_end))

// To keep the signals that the shim uses apart from the program's (record/signals/program_signals.h).
#define PLUMB_SIGNAL_HOOKS(X)                                                                                \
    X(signal, int, sigaction, (int number, const struct sigaction* action, struct sigaction* former))        \
    X(signal, sighandler_t, signal, (int number, sighandler_t handler))                                      \
    X(signal, sighandler_t, bsd_signal, (int number, sighandler_t handler))                                  \
    X(signal, sighandler_t, ssignal, (int number, sighandler_t handler))                                     \
    X(signal, sighandler_t, sysv_signal, (int number, sighandler_t handler))                                 \
    X(signal, sighandler_t, __sysv_signal, (int number, sighandler_t handler))                               \
    X(signal, int, siginterrupt, (int number, int interrupts))                                               \
    X(signal, sighandler_t, sigset, (int number, sighandler_t handler))                                      \
    X(signal, int, sighold, (int number))                                                                    \
    X(signal, int, sigrelse, (int number))                                                                   \
    X(signal, int, sigignore, (int number))                                                                  \
    X(signal, int, sigprocmask, (int how, const sigset_t* set, sigset_t* former))                            \
    X(signal, int, pthread_sigmask, (int how, const sigset_t* set, sigset_t* former))                        \
    X(signal, int, sigblock, (int mask))                                                                     \
    X(signal, int, sigsetmask, (int mask))                                                                   \
    X(signal, int, sigsuspend, (const sigset_t* mask))                                                       \
    X(signal, int, sigpause, (int mask))                                                                     \
    X(signal, int, __xpg_sigpause, (int number))                                                             \
    X(signal, int, ppoll,                                                                                    \
      (struct pollfd* descriptors, nfds_t count, const struct timespec* timeout, const sigset_t* mask))      \
    X(signal, int, pselect,                                                                                  \
      (int count, fd_set* readable, fd_set* writable, fd_set* exceptional,                                   \
       const struct timespec* timeout, const sigset_t* mask))                                                \
    X(signal, int, epoll_pwait,                                                                              \
      (int descriptor, struct epoll_event* events, int most, int timeout, const sigset_t* mask))             \
    X(signal, int, epoll_pwait2,                                                                             \
      (int descriptor, struct epoll_event* events, int most, const struct timespec* timeout,                 \
       const sigset_t* mask))                                                                                \
    X(signal, int, sigpending, (sigset_t* set))                                                              \
    X(signal, int, sigwait, (const sigset_t* set, int* number))                                              \
    X(signal, int, sigwaitinfo, (const sigset_t* set, siginfo_t* info))                                      \
    X(signal, int, sigtimedwait, (const sigset_t* set, siginfo_t* info, const struct timespec* timeout))

// Jumps that set a signal mask, see hooks/jumps.cpp.
#define PLUMB_JUMP_HOOKS(X)                                                                                  \
    X(jump, int, __sigsetjmp, (struct __jmp_buf_tag* buffer, int saves_mask))                                \
    X(jump, int, setjmp, (struct __jmp_buf_tag* buffer))                                                     \
    X(jump, void, siglongjmp, (struct __jmp_buf_tag* buffer, int value))                                     \
    X(jump, void, longjmp, (struct __jmp_buf_tag* buffer, int value))                                        \
    X(jump, void, _longjmp, (struct __jmp_buf_tag* buffer, int value))                                       \
    X(jump, void, __longjmp_chk, (struct __jmp_buf_tag* buffer, int value))                                  \
    X(jump, int, getcontext, (ucontext_t* context))                                                          \
    X(jump, int, setcontext, (const ucontext_t* context))                                                    \
    X(jump, int, swapcontext, (ucontext_t* from, const ucontext_t* to))

// What starts processes or threads inside the C library, see hooks/spawning_calls.cpp.
#define PLUMB_SPAWNING_HOOKS(X)                                                                              \
    X(spawning, int, posix_spawn,                                                                            \
      (pid_t* child, const char* path, const posix_spawn_file_actions_t* files,                              \
       const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment))               \
    X(spawning, int, posix_spawnp,                                                                           \
      (pid_t* child, const char* file, const posix_spawn_file_actions_t* files,                              \
       const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment))               \
    X(spawning, int, clone, (int (*run)(void*), void* stack, int flags, void* argument, ...))                \
    X(spawning, int, system, (const char* command))                                                          \
    X(spawning, FILE*, popen, (const char* command, const char* mode))                                       \
    X(spawning, int, wordexp, (const char* words, wordexp_t* expansion, int flags))                          \
    X(spawning, int, timer_create, (clockid_t clock, struct sigevent* event, timer_t* timer))                \
    X(spawning, int, mq_notify, (mqd_t queue, const struct sigevent* event))                                 \
    X(spawning, int, getaddrinfo_a, (int mode, struct gaicb** list, int count, struct sigevent* event))      \
    X(spawning, int, aio_read, (struct aiocb* request))                                                      \
    X(spawning, int, aio_write, (struct aiocb* request))                                                     \
    X(spawning, int, aio_read64, (struct aiocb* request))                                                    \
    X(spawning, int, aio_write64, (struct aiocb* request))                                                   \
    X(spawning, int, aio_fsync, (int operation, struct aiocb* request))                                      \
    X(spawning, int, lio_listio, (int mode, struct aiocb* const* list, int count, struct sigevent* event))   \
    X(spawning, int, lio_listio64, (int mode, struct aiocb* const* list, int count, struct sigevent* event))

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

// The entry points of GCC's OpenMP runtime (hooks/openmp/), also offered by LLVM's. Looked up at their first call, not with the
// others: most programs have no such library, or load it later.
// What creates tasks takes seven to eleven arguments of a word each: all that may be there are passed on as they lie.
// So does what begins a loop: six to ten.
#define PLUMB_LOOP_PARAMETERS long a, long b, long c, long d, long e, long f, long g, long h, long i, long j
#define PLUMB_TASK_PARAMETERS                                                                                \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k
#define PLUMB_OPENMP_HOOKS(X)                                                                                \
    X(openmp, void, GOMP_parallel, (void (*run)(void*), void* data, unsigned threads, unsigned flags))       \
    X(openmp, unsigned, GOMP_parallel_reductions,                                                            \
      (void (*run)(void*), void* data, unsigned threads, unsigned flags))                                    \
    X(openmp, void, GOMP_parallel_loop_static,                                                               \
      (void (*run)(void*), void* data, unsigned threads, long begin, long end, long step, long chunk,        \
       unsigned flags))                                                                                      \
    X(openmp, void, GOMP_parallel_loop_dynamic,                                                              \
      (void (*run)(void*), void* data, unsigned threads, long begin, long end, long step, long chunk,        \
       unsigned flags))                                                                                      \
    X(openmp, void, GOMP_parallel_loop_guided,                                                               \
      (void (*run)(void*), void* data, unsigned threads, long begin, long end, long step, long chunk,        \
       unsigned flags))                                                                                      \
    X(openmp, void, GOMP_parallel_loop_nonmonotonic_dynamic,                                                 \
      (void (*run)(void*), void* data, unsigned threads, long begin, long end, long step, long chunk,        \
       unsigned flags))                                                                                      \
    X(openmp, void, GOMP_parallel_loop_nonmonotonic_guided,                                                  \
      (void (*run)(void*), void* data, unsigned threads, long begin, long end, long step, long chunk,        \
       unsigned flags))                                                                                      \
    X(openmp, void, GOMP_parallel_loop_runtime,                                                              \
      (void (*run)(void*), void* data, unsigned threads, long begin, long end, long step, unsigned flags))   \
    X(openmp, void, GOMP_parallel_loop_nonmonotonic_runtime,                                                 \
      (void (*run)(void*), void* data, unsigned threads, long begin, long end, long step, unsigned flags))   \
    X(openmp, void, GOMP_parallel_loop_maybe_nonmonotonic_runtime,                                           \
      (void (*run)(void*), void* data, unsigned threads, long begin, long end, long step, unsigned flags))   \
    X(openmp, void, GOMP_parallel_sections,                                                                  \
      (void (*run)(void*), void* data, unsigned threads, unsigned count, unsigned flags))                    \
    X(openmp, void, GOMP_barrier, (void))                                                                    \
    X(openmp, bool, GOMP_barrier_cancel, (void))                                                             \
    X(openmp, void, GOMP_loop_end, (void))                                                                   \
    X(openmp, bool, GOMP_loop_end_cancel, (void))                                                            \
    X(openmp, void, GOMP_sections_end, (void))                                                               \
    X(openmp, bool, GOMP_sections_end_cancel, (void))                                                        \
    X(openmp, bool, GOMP_loop_dynamic_start, (PLUMB_LOOP_PARAMETERS))                                        \
    X(openmp, bool, GOMP_loop_guided_start, (PLUMB_LOOP_PARAMETERS))                                         \
    X(openmp, bool, GOMP_loop_runtime_start, (PLUMB_LOOP_PARAMETERS))                                        \
    X(openmp, bool, GOMP_loop_nonmonotonic_dynamic_start, (PLUMB_LOOP_PARAMETERS))                           \
    X(openmp, bool, GOMP_loop_nonmonotonic_guided_start, (PLUMB_LOOP_PARAMETERS))                            \
    X(openmp, bool, GOMP_loop_nonmonotonic_runtime_start, (PLUMB_LOOP_PARAMETERS))                           \
    X(openmp, bool, GOMP_loop_maybe_nonmonotonic_runtime_start, (PLUMB_LOOP_PARAMETERS))                     \
    X(openmp, bool, GOMP_loop_ull_dynamic_start, (PLUMB_LOOP_PARAMETERS))                                    \
    X(openmp, bool, GOMP_loop_ull_guided_start, (PLUMB_LOOP_PARAMETERS))                                     \
    X(openmp, bool, GOMP_loop_ull_runtime_start, (PLUMB_LOOP_PARAMETERS))                                    \
    X(openmp, bool, GOMP_loop_ull_nonmonotonic_dynamic_start, (PLUMB_LOOP_PARAMETERS))                       \
    X(openmp, bool, GOMP_loop_ull_nonmonotonic_guided_start, (PLUMB_LOOP_PARAMETERS))                        \
    X(openmp, bool, GOMP_loop_ull_nonmonotonic_runtime_start, (PLUMB_LOOP_PARAMETERS))                       \
    X(openmp, bool, GOMP_loop_ull_maybe_nonmonotonic_runtime_start, (PLUMB_LOOP_PARAMETERS))                 \
    X(openmp, bool, GOMP_loop_start, (PLUMB_LOOP_PARAMETERS))                                                \
    X(openmp, bool, GOMP_loop_ull_start, (PLUMB_LOOP_PARAMETERS))                                            \
    X(openmp, unsigned, GOMP_sections_start, (unsigned count))                                               \
    X(openmp, unsigned, GOMP_sections2_start, (unsigned count, void* reductions, void** memory))             \
    X(openmp, void, GOMP_critical_start, (void))                                                             \
    X(openmp, void, GOMP_critical_end, (void))                                                               \
    X(openmp, void, GOMP_critical_name_start, (void** name))                                                 \
    X(openmp, void, GOMP_critical_name_end, (void** name))                                                   \
    X(openmp, void, GOMP_ordered_start, (void))                                                              \
    X(openmp, void, GOMP_task, (PLUMB_TASK_PARAMETERS))                                                      \
    X(openmp, void, GOMP_taskloop, (PLUMB_TASK_PARAMETERS))                                                  \
    X(openmp, void, GOMP_taskloop_ull, (PLUMB_TASK_PARAMETERS))                                              \
    X(openmp, void, omp_set_lock, (void* lock))                                                              \
    X(openmp, void, omp_set_lock_, (void* lock))                                                             \
    X(openmp, void, omp_unset_lock, (void* lock))                                                            \
    X(openmp, void, omp_unset_lock_, (void* lock))                                                           \
    X(openmp, void, omp_set_nest_lock, (void* lock))                                                         \
    X(openmp, void, omp_set_nest_lock_, (void* lock))                                                        \
    X(openmp, void*, ompt_start_tool, (unsigned version, const char* name))

// Not hooks, nothing stands behind them: what the public interface finds of the tool (hooks/public_api.cpp).
#define PLUMB_API_FUNCTIONS(X)                                                                                   \
    X(api, int, plumb_tool_is_recording, (void))                                                             \
    X(api, void, plumb_tool_region, (const char* name, int begins))

#define PLUMB_HOOKS(X)                                                                                       \
    PLUMB_PROCESS_HOOKS(X)                                                                                   \
    PLUMB_THREAD_HOOKS(X)                                                                                    \
    PLUMB_SYSTEM_CALL_HOOKS(X)                                                                               \
    PLUMB_DL_HOOKS(X)                                                                                        \
    PLUMB_START_HOOKS(X)                                                                                     \
    PLUMB_SIGNAL_HOOKS(X)                                                                                    \
    PLUMB_JUMP_HOOKS(X)                                                                                      \
    PLUMB_SPAWNING_HOOKS(X)                                                                                  \
    PLUMB_ALLOC_HOOKS(X)

// Everything that the library exports.
#define PLUMB_EXPORTS(X)                                                                                     \
    PLUMB_HOOKS(X)                                                                                           \
    PLUMB_OPENMP_HOOKS(X)                                                                                    \
    PLUMB_API_FUNCTIONS(X)
