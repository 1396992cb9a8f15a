#include "hooks/libc_thread_redirect.h"

#include "platform/code/alignment_flag.h"
#include "platform/elf/function_redirect.h"
#include "platform/os/text.h"
#include "record/align/alignment_collector.h"

#include <plumb/environment.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

namespace plumb::shim {
namespace {

struct { // set once, before anybody can be given the functions below; null: nobody is
    void* pthread_create;
    void* thrd_create;
} inner;

template <class Function> Function* function_at(void* const& place) {
    return reinterpret_cast<Function*>(__atomic_load_n(&place, __ATOMIC_ACQUIRE));
}

// Below a hook that starts threads the flag is clear already, and the thread is a known one.
void note_thread() {
    if (alignment_trap_kept_off == 0)
        alignment_thread_past_hooks();
}

int create_posix(pthread_t* thread, const pthread_attr_t* attributes, void* (*routine)(void*), void* argument) {
    note_thread();
    const AlignmentTrapOff off;
    return function_at<decltype(create_posix)>(inner.pthread_create)(thread, attributes, routine, argument);
}

int create_c11(thrd_t* thread, int (*routine)(void*), void* argument) {
    note_thread();
    const AlignmentTrapOff off;
    return function_at<decltype(create_c11)>(inner.thrd_create)(thread, routine, argument);
}

// The C library's, and that of threads before glibc 2.34.
bool has_thread_functions(const char* path) {
    return path && (strncmp(base_name(path), "libc.so", 7) == 0 || strncmp(base_name(path), "libpthread.so", 13) == 0);
}

int redirect_in(dl_phdr_info* image, size_t, void*) {
    if (!has_thread_functions(image->dlpi_name))
        return 0;
    if (!inner.pthread_create)
        redirect_function(*image, "pthread_create", reinterpret_cast<void*>(create_posix), &inner.pthread_create);
    if (!inner.thrd_create)
        redirect_function(*image, "thrd_create", reinterpret_cast<void*>(create_c11), &inner.thrd_create);
    return 0;
}

// The settings are not read yet, and may not be for long.
bool is_trap_wanted() {
    const char* const mode = getenv(environment::kAlign);
    return mode && *mode && strcmp(mode, "off") != 0;
}

} // namespace

void redirect_libc_thread_functions() {
    if (has_alignment_flag && is_trap_wanted())
        dl_iterate_phdr(redirect_in, nullptr);
}

} // namespace plumb::shim
