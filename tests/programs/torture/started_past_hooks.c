// Threads and processes that no preloaded wrapper sees being started: by the C library's own pthread_create, by clone,
// by system calls.
#define _GNU_SOURCE
#include "unaligned.h"
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef int create_function(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
enum { THREADS = 12 };

static create_function* created_by_the_library(void) {
    for (const char** name = (const char*[]){"libc.so.6", "libpthread.so.0", NULL}; *name; ++name) {
        void* library = dlopen(*name, RTLD_LAZY | RTLD_NOLOAD);
        void* function = library ? dlsym(library, "pthread_create") : NULL;
        if (function)
            return (create_function*)(uintptr_t)function;
    }
    puts("no pthread_create");
    exit(2);
}

static uint32_t read_often(const volatile char* bytes, int n) {
    uint32_t sum = 0;
    for (int i = 0; i < n; ++i)
        sum += *(const volatile uint32_t*)(bytes + 1) + *(const volatile uint16_t*)(bytes + 31);
    return sum;
}

static char some[64];
static void* watched(void* argument) { return (void*)(uintptr_t)(read_often(some, 100) + (uint32_t)(uintptr_t)argument); }

static __thread sigjmp_buf back;
static void on_user(int number) {
    if (read_often(some, 20) + (uint32_t)number != 0)
        siglongjmp(back, 1);
}

// What threads do, one each way.
static void* work(void* argument) {
    const uintptr_t way = (uintptr_t)argument;
    if (way % 4 == 1) {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, NULL);
    }
    if (way % 4 == 2 && sigsetjmp(back, 1) == 0)
        raise(SIGUSR1);
    char* own = calloc(1, 64);
    for (int i = 0; i < 2000; ++i)
        *(volatile uint32_t*)(own + 1) += 1 + read_often(some, 1);
    uint32_t counted;
    memcpy(&counted, own + 1, sizeof counted);
    free(own);
    if (way % 4 == 3) { // one that is seen again
        pthread_t thread;
        void* result;
        pthread_create(&thread, NULL, watched, (void*)way);
        pthread_join(thread, &result);
        counted += (uint32_t)(uintptr_t)result;
    }
    return (void*)(uintptr_t)counted;
}

static int stack_of_clone[16384] __attribute__((aligned(16)));
static volatile int clone_tid;
static volatile uint32_t clone_sum;
static int run_clone(void* argument) {
    clone_sum += read_often(some, 300) + (uint32_t)(uintptr_t)argument;
    return 0;
}

int main(void) {
    signal(SIGUSR1, on_user);
    create_function* create = created_by_the_library();
    uint32_t sum = touch(20);

    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; ++i)
        if (create(&threads[i], NULL, work, (void*)i) != 0)
            puts("no thread");
    sum += touch(20);
    for (int i = 0; i < THREADS; ++i) {
        void* counted;
        pthread_join(threads[i], &counted);
        printf("%lu ", (unsigned long)(uintptr_t)counted);
    }

    // One at a time, and their maker sleeps meanwhile: they use its thread-local storage.
    for (int i = 0; i < 5; ++i) {
        sum += touch(100);
        clone_tid = -1;
        const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                          CLONE_CHILD_CLEARTID;
        if (clone(run_clone, stack_of_clone + 16384, flags, (void*)(uintptr_t)i, NULL, NULL, &clone_tid) < 0)
            puts("no clone");
        while (clone_tid != 0)
            syscall(SYS_futex, &clone_tid, FUTEX_WAIT, -1, NULL, NULL, 0);
    }

    for (int i = 0; i < 3; ++i) {
        fflush(stdout);
        const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0)
            _exit(read_often(some, 300) == 0 ? 5 + i : 1);
        int status;
        waitpid((pid_t)child, &status, 0);
        sum += touch(20);
        printf("%x ", status);
    }
    printf("%u %u\n", clone_sum, sum);
    return 4;
}
