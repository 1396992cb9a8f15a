// Creation and names of threads. The end of a thread is seen by the destructor of a key (record/process/threads.cpp),
// which runs however the thread ends.
//
// What the new thread must know is handed over in its future ThreadState: no allocation, nothing to leak. The new
// thread copies routine and argument out of it before the program's code runs; if creation fails the creator gives
// it back.
#include "hooks/real_functions.h"
#include "hooks/seccomp.h"
#include "platform/code/alignment_flag.h"
#include "platform/os/ids_and_clocks.h"
#include "record/collector.h"
#include "record/modules.h"
#include "record/pin/pin.h"
#include "record/process/file_quota.h"
#include "record/process/process.h"
#include "record/process/threads.h"
#include "record/process/trace_writer.h"
#include "record/signals/program_signals.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

using namespace plumb;
using namespace plumb::shim;

namespace {

bool threads_are_watched() { return (recording() || collectors_watch_threads()) && !is_confined(); }

ThreadState* hand_over(const pthread_attr_t* attributes, void* routine, void* argument, const void* caller) {
    const int error_of_program = errno;
    ThreadState* state = allocate_thread_state();
    if (state) {
        state->start_routine = routine;
        state->start_argument = argument;
        state->held_back = held_back_signals();
        state->pin_ticket = pin_claim(attributes, routine, caller);
        const Guard guard;
        if (guard) {
            state->creator_tid = guard.thread().tid;
            scan_modules_if_due(guard);
        }
    }
    errno = error_of_program;
    return state;
}

// The thread could not be created.
void give_back(ThreadState* state) {
    pin_abandon(state->pin_ticket);
    release_thread_state(state);
}

// Returns the argument of the program's routine.
template <class Routine> void* take_over(void* handed, Routine*& routine) {
    auto* state = static_cast<ThreadState*>(handed);
    routine = reinterpret_cast<Routine*>(state->start_routine);
    void* argument = state->start_argument;
    const PinTicket ticket = state->pin_ticket;
    inherit_held_back_signals(state->held_back);
    if (recording())
        begin_thread(state);
    else
        release_thread_state(state);
    pin_begin_thread(ticket);
    start_collectors_of_thread(reinterpret_cast<void*>(routine));
    errno = 0;
    return argument;
}

void* run_posix_thread(void* handed) {
    void* (*routine)(void*);
    void* argument = take_over(handed, routine);
    return routine(argument);
}

int run_c11_thread(void* handed) {
    int (*routine)(void*);
    void* argument = take_over(handed, routine);
    return routine(argument);
}

void take_name(uint32_t tid, const char* name) {
    const int error_of_program = errno;
    pin_thread_named(tid, name);
    const Guard guard;
    constexpr size_t longest = 15; // the kernel keeps that many characters
    constexpr uint32_t bytes = sizeof(trace::ThreadName) + sizeof(trace::String) + longest + 1;
    if (guard && tid != 0 && spend(guard, FileQuota::names, bytes)) {
        trace::ThreadName record = {};
        record.header.tid = tid;
        record.name = write_string(guard, name, strnlen(name, longest));
        append(guard, trace::RecordType::ThreadName, record);
    }
    errno = error_of_program;
}

} // namespace

extern "C" {

int hook_pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*),
                        void* argument) {
    const AlignmentTrapOff off; // it blocks all signals
    const RealFunctions& real = *real_functions();
    ThreadState* state =
        threads_are_watched() ? hand_over(attributes, reinterpret_cast<void*>(routine), argument,
                                        __builtin_return_address(0)) : nullptr;
    if (!state)
        return real.pthread_create(thread, attributes, routine, argument);
    const int error = real.pthread_create(thread, attributes, run_posix_thread, state);
    if (error != 0)
        give_back(state);
    return error;
}

int hook_thrd_create(thrd_t* thread, int (*routine)(void*), void* argument) {
    const AlignmentTrapOff off;
    const RealFunctions& real = *real_functions();
    ThreadState* state =
        threads_are_watched() ? hand_over(nullptr, reinterpret_cast<void*>(routine), argument,
                                        __builtin_return_address(0)) : nullptr;
    if (!state)
        return real.thrd_create(thread, routine, argument);
    const int result = real.thrd_create(thread, run_c11_thread, state);
    if (result != thrd_success)
        give_back(state);
    return result;
}

int hook_pthread_setname_np(pthread_t thread, const char* name) {
    const int error = real_functions()->pthread_setname_np(thread, name);
    if (error == 0 && threads_are_watched())
        take_name(pthread_equal(thread, pthread_self()) ? thread_id() : tid_of(thread), name);
    return error;
}

int hook_prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d) {
    const bool confines = option == PR_SET_SECCOMP;
    if (confines)
        before_seccomp();
    const int result = real_functions()->prctl(option, a, b, c, d);
    if (confines)
        after_seccomp(result == 0);
    if (option == PR_SET_NAME && result == 0 && threads_are_watched())
        take_name(thread_id(), reinterpret_cast<const char*>(a));
    return result;
}
}
