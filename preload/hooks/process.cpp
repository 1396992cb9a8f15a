// Ends of a process image: exec, _exit, quick_exit, abort. (Its begin: start.cpp.)
//
// All of this may run in a vfork child, which shares the parent's memory and must leave no trace in it, and in
// signal handlers. runs_in_recorded_process() asks the kernel who runs.
#include "hooks/exec_environment.h"
#include "hooks/real_functions.h"
#include "platform/code/alignment_flag.h"
#include "record/modules.h"
#include "record/process/process.h"
#include "record/process/trace_writer.h"
#include "record/process_lifecycle.h"
#include "record/signals/program_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

using namespace plumb;
using namespace plumb::shim;

namespace {

// Records the end of this image, runs `exec`, and takes the end back if it returns.
template <class Exec> int exec_recorded(Exec exec) {
    const SignalsAsTheProgramSees signals;
    if (!runs_in_recorded_process())
        return exec(*real_functions());
    const int error_before = errno;
    trace::ProcessEnd* end = nullptr;
    {
        const Guard guard;
        if (guard) {
            scan_modules_if_due(guard);
            end = end_before_exec(guard);
        }
    }
    errno = error_before;
    const int result = exec(*real_functions());
    resume_after_exec(end);
    return result;
}

int exec_path(const char* path, char* const* arguments, char* const* environment) {
    return start_in_environment(
        environment, [=] { return kind_of_program(AT_FDCWD, path); },
        [=](char* const* suitable) {
            return exec_recorded([=](const RealFunctions& real) { return real.execve(path, arguments, suitable); });
        });
}

int exec_searched(const char* file, char* const* arguments, char* const* environment) {
    return start_in_environment(
        environment, [=] { return kind_of_program_in(getenv("PATH"), file); },
        [=](char* const* suitable) {
            return exec_recorded([=](const RealFunctions& real) { return real.execvpe(file, arguments, suitable); });
        });
}

// The arguments of execl and similar calls as an array on the caller's stack, which exec replaces.
#define PLUMB_COLLECT_ARGUMENTS(list, first, arguments)                                                      \
    va_list list;                                                                                            \
    va_start(list, first);                                                                                   \
    size_t count = 1;                                                                                        \
    for (const char* next = first; next; next = va_arg(list, const char*))                                   \
        ++count;                                                                                             \
    va_end(list);                                                                                            \
    auto** arguments = static_cast<char**>(__builtin_alloca(count * sizeof(char*)));                         \
    va_start(list, first);                                                                                   \
    arguments[0] = const_cast<char*>(first);                                                                 \
    for (size_t i = 1; i < count; ++i)                                                                       \
        arguments[i] = va_arg(list, char*)

} // namespace

extern "C" {

int hook_execve(const char* path, char* const* arguments, char* const* environment) {
    return exec_path(path, arguments, environment);
}

int hook_execv(const char* path, char* const* arguments) { return exec_path(path, arguments, environ); }

int hook_execvp(const char* file, char* const* arguments) { return exec_searched(file, arguments, environ); }

int hook_execvpe(const char* file, char* const* arguments, char* const* environment) {
    return exec_searched(file, arguments, environment);
}

int hook_execveat(int directory, const char* path, char* const* arguments, char* const* environment, int flags) {
    return start_in_environment(
        environment, [=] { return kind_of_program(directory, path); },
        [=](char* const* suitable) {
            return exec_recorded([=](const RealFunctions& real) {
                return real.execveat(directory, path, arguments, suitable, flags);
            });
        });
}

int hook_fexecve(int descriptor, char* const* arguments, char* const* environment) {
    return start_in_environment(
        environment, [=] { return kind_of_program(descriptor, ""); },
        [=](char* const* suitable) {
            return exec_recorded(
                [=](const RealFunctions& real) { return real.fexecve(descriptor, arguments, suitable); });
        });
}

int hook_execl(const char* path, const char* argument, ...) {
    PLUMB_COLLECT_ARGUMENTS(list, argument, arguments);
    va_end(list);
    return exec_path(path, arguments, environ);
}

int hook_execlp(const char* file, const char* argument, ...) {
    PLUMB_COLLECT_ARGUMENTS(list, argument, arguments);
    va_end(list);
    return exec_searched(file, arguments, environ);
}

int hook_execle(const char* path, const char* argument, ...) {
    PLUMB_COLLECT_ARGUMENTS(list, argument, arguments);
    char* const* environment = va_arg(list, char* const*); // behind the null that ends the arguments
    va_end(list);
    return exec_path(path, arguments, environment);
}

// fork() without the handlers of pthread_atfork(), which is where children of fork() are set up.
pid_t hook__Fork(void) {
    const AlignmentTrapOff off; // it blocks all signals
    const pid_t child = real_functions()->_Fork();
    if (child == 0)
        continue_in_child();
    return child;
}

void hook__exit(int status) {
    end_process(trace::EndKind::exit, status);
    real_functions()->_exit(status);
    __builtin_unreachable();
}

void hook__Exit(int status) {
    end_process(trace::EndKind::exit, status);
    real_functions()->_Exit(status);
    __builtin_unreachable();
}

// The record is written by the handler that start.cpp registered first, after those of the program; only the status
// is not passed to it.
void hook_quick_exit(int status) {
    note_quick_exit_status(status);
    real_functions()->quick_exit(status);
    __builtin_unreachable();
}

// A handler of SIGABRT may leave by longjmp and the program go on, so recording does too.
void hook_abort(void) {
    if (runs_in_recorded_process()) {
        const Guard guard;
        if (guard) {
            trace::ProcessEnd end = {};
            end.time_ns = now_ns();
            end.kind = static_cast<uint32_t>(trace::EndKind::abort);
            append(guard, trace::RecordType::ProcessEnd, end);
        }
    }
    real_functions()->abort();
    __builtin_unreachable();
}
}
