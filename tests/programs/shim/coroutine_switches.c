// Coroutines that allocate on stacks of their own: coroutine_switches HOW ROUNDS ALLOCATIONS.
//   swapcontext   each gives way after every allocation
//   by-hand       the same by a switch of the stack pointer that no library sees
//   left-for-good one gives way from a signal handler, and is not run again. Not from within the C library, whose allocator would not
//                 survive that: in its own code or in what is recorded around a call of the allocator
//   preempted     a timer's handler switches between them wherever they are, also in the middle of an allocation
// Prints how many allocations returned and how many were begun, then how many of the former came after the coroutines.
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdint.h>
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

enum { kMostRanges = 16 };
static struct {
    uintptr_t begin, end;
} library_code[kMostRanges]; // of the C library and the loader
static int ranges;

// Of dl_iterate_phdr.
static int note_library(struct dl_phdr_info* object, size_t size, void* nothing) {
    (void)size, (void)nothing;
    const char* const name = object->dlpi_name;
    if (!strstr(name, "/libc.so") && !strstr(name, "/ld-"))
        return 0;
    for (int i = 0; i < object->dlpi_phnum && ranges < kMostRanges; ++i)
        if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags & PF_X) {
            library_code[ranges].begin = object->dlpi_addr + object->dlpi_phdr[i].p_vaddr;
            library_code[ranges].end = library_code[ranges].begin + object->dlpi_phdr[i].p_memsz;
            ++ranges;
        }
    return 0;
}

static int is_in_library(const ucontext_t* context) {
#if defined(__x86_64__)
    const uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
    const uintptr_t pc = (uintptr_t)context->uc_mcontext.pc;
#endif
    for (int i = 0; i < ranges; ++i)
        if (pc >= library_code[i].begin && pc < library_code[i].end)
            return 1;
    return 0;
}

static void on_timer(int number, siginfo_t* info, void* context) {
    (void)number, (void)info;
    if (current == COROUTINES)
        return;
    if (strcmp(how, "preempted") == 0) {
        go_to(after(current));
    } else if (leaves > 0 && !is_in_library(context)) {
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
    struct sigaction action = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO};
    dl_iterate_phdr(note_library, NULL);
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < COROUTINES; ++i)
        prepare(i, timed ? run_until_switched : give_way);
    sigset_t timer; // main is not left: its context is not yet saved while it calls swapcontext
    sigemptyset(&timer);
    sigaddset(&timer, SIGALRM);
    if (timed) {
        sigprocmask(SIG_BLOCK, &timer, NULL);
        setitimer(ITIMER_REAL, &often, NULL);
    }
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
