// A handler leaves malloc by a jump, thousands of times; then memory is allocated further down the stack than ever before.
// jumps_out_of_malloc HOW JUMPS ALLOCATIONS. Prints how many allocations returned and how many were begun.
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

static const char* how;
static volatile int jumps, knows_where; // it may jump to
static volatile long begun, returned;
static sigjmp_buf back;
static ucontext_t context;
static void* builtin_back[5];
static char alternate_stack[1 << 16];

static void leave(int number) {
    (void)number;
    if (jumps == 0 || !knows_where)
        return;
    --jumps;
    if (strcmp(how, "setcontext") == 0)
        setcontext(&context);
    if (strcmp(how, "unhooked") == 0)
        __builtin_longjmp(builtin_back, 1);
    siglongjmp(back, 1);
}

static void allocate(void) {
    ++begun;
    free(malloc(16));
    ++returned;
}

__attribute__((noinline)) static void allocate_until_left(void) {
    while (jumps > 0)
        allocate();
}

__attribute__((noinline)) static void allocate_below(int frames, long count) {
    volatile char room[4096];
    room[0] = 0;
    if (frames > 0)
        allocate_below(frames - 1, count);
    else
        while (count-- > 0)
            allocate();
    room[1] = room[0];
}

static void* work(void* count) {
    stack_t stack = {.ss_sp = alternate_stack, .ss_size = sizeof alternate_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_handler = leave, .sa_flags = SA_NODEFER};
    // Signals that come faster than a slow machine delivers them nest, until that stack is full: there, each is asked for alone.
    const int alone = strcmp(how, "alternate-stack") == 0;
    if (alone)
        action.sa_flags |= SA_ONSTACK;
    sigaction(SIGALRM, &action, NULL);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGALRM);
    pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
    const struct itimerval often = {{0, 50}, {0, 50}}, once = {{0, 0}, {0, 50}}, never = {{0, 0}, {0, 0}};
    if (!alone)
        setitimer(ITIMER_REAL, &often, NULL);
    if (strcmp(how, "setcontext") == 0)
        getcontext(&context);
    else if (strcmp(how, "unhooked") == 0)
        (void)__builtin_setjmp(builtin_back);
    else
        (void)sigsetjmp(back, strcmp(how, "without-mask") != 0);
    knows_where = 1;
    if (alone)
        setitimer(ITIMER_REAL, &once, NULL);
    allocate_until_left();
    setitimer(ITIMER_REAL, &never, NULL);
    // What no hook sees can only be noticed by a call from further out than the one that was left.
    long left = *(const long*)count;
    if (strcmp(how, "unhooked") != 0)
        allocate_below(64, left);
    else
        while (left-- > 0)
            allocate();
    return NULL;
}

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    how = argv[1];
    jumps = atoi(argv[2]);
    long count = atol(argv[3]);
    if (strcmp(how, "thread") == 0) {
        pthread_t thread;
        sigset_t mask;
        sigemptyset(&mask);
        sigaddset(&mask, SIGALRM);
        pthread_sigmask(SIG_BLOCK, &mask, NULL);
        pthread_create(&thread, NULL, work, &count);
        pthread_join(thread, NULL);
    } else {
        work(&count);
    }
    printf("%ld %ld\n", returned, begun);
    return 0;
}
