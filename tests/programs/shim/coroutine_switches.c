// Coroutines that allocate on stacks of their own: coroutine_switches HOW ROUNDS ALLOCATIONS.
//   swapcontext   each gives way after every allocation
//   by-hand       the same by a switch of the stack pointer that no library sees
//   left-for-good one gives way from a signal handler in the middle of its allocation, and is not run again
//   preempted     a timer's handler switches between them wherever they are, also in the middle of an allocation
// Prints how many allocations returned and how many were begun, then how many of the former came after the coroutines.
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>

enum { COROUTINES = 4, STACK_BYTES = 1 << 20 };
static ucontext_t contexts[COROUTINES + 1]; // the last one is main's
static char stacks[COROUTINES + 1][STACK_BYTES] __attribute__((aligned(64)));
static void* by_hand[COROUTINES + 1]; // stack pointers
static volatile int current = COROUTINES, rounds_left, leaves;
static _Atomic long begun, returned; // whole at every switch
static const char* how;

__attribute__((noinline)) static void allocate(void) {
    ++begun;
    free(malloc(24));
    ++returned;
}

#if defined(__x86_64__)
void switch_by_hand(void** from, void* to);
__asm__("switch_by_hand:\n"
        "  push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
        "  mov %rsp, (%rdi)\n"
        "  mov %rsi, %rsp\n"
        "  pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\n"
        "  ret\n");
#else
static void switch_by_hand(void** from, void* to) { (void)from, (void)to, abort(); }
#endif

static void go_to(int next) {
    const int from = current;
    current = next;
    if (strcmp(how, "by-hand") == 0)
        switch_by_hand(&by_hand[from], by_hand[next]);
    else
        swapcontext(&contexts[from], &contexts[next]);
}

static int after(int coroutine) { return rounds_left-- > 0 ? (coroutine + 1) % COROUTINES : COROUTINES; }

static void give_way(void) {
    while (1) {
        allocate();
        go_to(after(current));
    }
}

static void run_until_switched(void) {
    sigset_t timer;
    sigemptyset(&timer);
    sigaddset(&timer, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &timer, NULL);
    while (1)
        allocate();
}

static void on_timer(int number) {
    (void)number;
    if (current == COROUTINES)
        return;
    if (strcmp(how, "preempted") == 0) {
        go_to(after(current));
    } else if (leaves > 0) {
        --leaves;
        go_to(COROUTINES);
    }
}

static void prepare(int i, void (*work)(void)) {
    getcontext(&contexts[i]);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = STACK_BYTES;
    contexts[i].uc_link = NULL;
    // swapcontext sets the mask before it leaves the old stack: a signal that is pending then must wait until it has.
    sigemptyset(&contexts[i].uc_sigmask);
    sigaddset(&contexts[i].uc_sigmask, SIGALRM);
    makecontext(&contexts[i], work, 0);
    void** top = (void**)(stacks[i] + STACK_BYTES) - 2; // as after a call
    *--top = (void*)work;
    by_hand[i] = top - 6;
}

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    how = argv[1];
    rounds_left = atoi(argv[2]);
    const long count = atol(argv[3]);
    const int timed = strcmp(how, "preempted") == 0 || strcmp(how, "left-for-good") == 0;
    const struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_timer};
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < COROUTINES; ++i)
        prepare(i, timed ? run_until_switched : give_way);
    if (timed)
        setitimer(ITIMER_REAL, &often, NULL);
    if (strcmp(how, "left-for-good") == 0) {
        for (int rounds = rounds_left; rounds > 0; --rounds) {
            prepare(0, run_until_switched);
            leaves = 1;
            go_to(0);
        }
    } else {
        go_to(0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    const long before = returned;
    for (long i = 0; i < count; ++i)
        allocate();
    printf("%ld %ld %ld\n", returned, begun, returned - before);
    return 0;
}
