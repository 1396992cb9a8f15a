// Calls of the C library that start processes or threads of its own, or block all signals: a fault with SIGBUS blocked
// ends a process, so the calling thread's alignment flag is clear for their time. What they start inherits the mask
// that the program believes to have.
#include "hooks/exec_environment.h"
#include "hooks/real_functions.h"
#include "platform/code/alignment_flag.h"
#include "record/align/alignment_collector.h"
#include "record/signals/program_signals.h"

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>

using namespace plumb::shim;

namespace {

// The file actions may change the child's folder, and what cannot be looked into is not known.
bool may_be_elsewhere(const char* path, const posix_spawn_file_actions_t* files) { return files && path[0] != '/'; }

} // namespace

extern "C" {

int hook_posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* files,
                     const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    const auto kind = [=] {
        return may_be_elsewhere(path, files) ? ProgramKind::unknown : kind_of_program(AT_FDCWD, path);
    };
    return start_in_environment(environment, kind, [=](char* const* suitable) {
        const SignalsAsTheProgramSees signals;
        return real_functions()->posix_spawn(child, path, files, attributes, arguments, suitable);
    });
}

int hook_posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* files,
                      const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
    const auto kind = [=] {
        return strchr(file, '/') && may_be_elsewhere(file, files) ? ProgramKind::unknown
                                                                  : kind_of_program_in(getenv("PATH"), file);
    };
    return start_in_environment(environment, kind, [=](char* const* suitable) {
        const SignalsAsTheProgramSees signals;
        return real_functions()->posix_spawnp(child, file, files, attributes, arguments, suitable);
    });
}

// The child runs on a stack of its own and never comes back here, whatever it shares. It is not watched.
int hook_clone(int (*run)(void*), void* stack, int flags, void* argument, ...) {
    va_list list; // clone reads them all, too, whether they were given or not
    va_start(list, argument);
    auto* const parent_tid = va_arg(list, pid_t*);
    void* const storage = va_arg(list, void*);
    auto* const child_tid = va_arg(list, pid_t*);
    va_end(list);
    const SignalsAsTheProgramSees signals;
    if ((flags & CLONE_VM) && !(flags & (CLONE_SETTLS | CLONE_VFORK)))
        alignment_storage_is_shared();
    if (flags & CLONE_THREAD)
        alignment_thread_past_hooks();
    return real_functions()->clone(run, stack, flags, argument, parent_tid, storage, child_tid);
}

int hook_system(const char* command) {
    const SignalsAsTheProgramSees signals;
    return real_functions()->system(command);
}

FILE* hook_popen(const char* command, const char* mode) {
    const SignalsAsTheProgramSees signals;
    return real_functions()->popen(command, mode);
}

int hook_wordexp(const char* words, wordexp_t* expansion, int flags) {
    const SignalsAsTheProgramSees signals;
    return real_functions()->wordexp(words, expansion, flags);
}

int hook_timer_create(clockid_t clock, struct sigevent* event, timer_t* timer) {
    const AlignmentTrapOff off;
    return real_functions()->timer_create(clock, event, timer);
}

int hook_mq_notify(mqd_t queue, const struct sigevent* event) {
    const AlignmentTrapOff off;
    return real_functions()->mq_notify(queue, event);
}

int hook_getaddrinfo_a(int mode, struct gaicb** list, int count, struct sigevent* event) {
    const AlignmentTrapOff off;
    return real_functions()->getaddrinfo_a(mode, list, count, event);
}

#define PLUMB_AIO_HOOK(name)                                                                                 \
    int hook_##name(struct aiocb* request) {                                                                 \
        const AlignmentTrapOff off;                                                                          \
        return real_functions()->name(request);                                                              \
    }
PLUMB_AIO_HOOK(aio_read)
PLUMB_AIO_HOOK(aio_write)
PLUMB_AIO_HOOK(aio_read64)
PLUMB_AIO_HOOK(aio_write64)

int hook_aio_fsync(int operation, struct aiocb* request) {
    const AlignmentTrapOff off;
    return real_functions()->aio_fsync(operation, request);
}

int hook_lio_listio(int mode, struct aiocb* const* list, int count, struct sigevent* event) {
    const AlignmentTrapOff off;
    return real_functions()->lio_listio(mode, list, count, event);
}

int hook_lio_listio64(int mode, struct aiocb* const* list, int count, struct sigevent* event) {
    const AlignmentTrapOff off;
    return real_functions()->lio_listio64(mode, list, count, event);
}
}
