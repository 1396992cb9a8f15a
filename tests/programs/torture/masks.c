// Everything blocked: pending signals, masks as they are read back, waits that unblock.
#define _GNU_SOURCE
#include "unaligned.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int calls;
static void count(int number) {
    (void)number;
    touch(2);
    ++calls;
}

static void show(const char* what) {
    sigset_t mask, pending;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    sigpending(&pending);
    printf("%-10s blocked %d %d %d pending %d %d %d calls %d\n", what, sigismember(&mask, SIGBUS),
           sigismember(&mask, SIGTRAP), sigismember(&mask, SIGUSR1), sigismember(&pending, SIGBUS),
           sigismember(&pending, SIGTRAP), sigismember(&pending, SIGUSR1), calls);
}

static void* work(void* argument) {
    show("thread");
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    touch(2000);
    return argument;
}

int main(void) {
    sigset_t all, none, bus;
    sigfillset(&all);
    sigemptyset(&none);
    sigemptyset(&bus);
    sigaddset(&bus, SIGBUS);
    signal(SIGBUS, count);
    signal(SIGTRAP, count);
    signal(SIGUSR1, count);
    touch(100);
    sigprocmask(SIG_SETMASK, &all, NULL);
    touch(2000);
    show("blocked");
    raise(SIGBUS), raise(SIGTRAP), raise(SIGUSR1);
    touch(2000);
    show("raised");
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    sigsuspend(&none);
    show("suspended");
    raise(SIGBUS);
    int number = 0;
    sigwait(&bus, &number);
    printf("waited for %d\n", number);
    touch(500);
    raise(SIGTRAP);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    show("unblocked");
    raise(SIGUSR1);
    touch(2000);
    show("end");
    return 0;
}
