// Handlers left by siglongjmp, with and without a saved mask, from an ordinary and an alternate stack; contexts swapped.
#define _GNU_SOURCE
#include "unaligned.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

static sigjmp_buf back;
static char stack_memory[1 << 16], coroutine_memory[1 << 16];
static ucontext_t outside, inside;

static void leave(int number) {
    touch(3);
    siglongjmp(back, number);
}

static int blocked(int number) {
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, number);
}

static void coroutine(void) {
    for (int i = 0; i < 50; ++i) {
        touch(20);
        swapcontext(&inside, &outside);
    }
}

int main(void) {
    stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
    sigaltstack(&stack, NULL);
    for (volatile int variant = 0; variant < 4; ++variant) {
        for (volatile int k = 0; k < 3; ++k) {
            const volatile int number = k == 0 ? SIGBUS : k == 1 ? SIGSEGV : SIGTRAP;
            struct sigaction action = {.sa_handler = leave, .sa_flags = variant & 1 ? SA_ONSTACK : 0};
            sigfillset(&action.sa_mask);
            sigaction(number, &action, NULL);
            volatile int left = 0;
            for (volatile int i = 0; i < 20; ++i) {
                touch(10);
                const int got = sigsetjmp(back, 1);
                if (got) {
                    left += got == number;
                    continue;
                }
                if (number == SIGSEGV)
                    *(volatile int*)(uintptr_t)3 = 1;
                else
                    raise(number);
            }
            touch(1000);
            printf("%d: left %d blocked %d %d\n", number, left, blocked(number), blocked(SIGUSR1));
            if (sigsetjmp(back, 0) == 0)
                raise(number);
            printf("%d: without mask: blocked %d %d\n", number, blocked(number), blocked(SIGUSR1));
            sigset_t all;
            sigfillset(&all);
            sigprocmask(SIG_UNBLOCK, &all, NULL);
        }
    }
    getcontext(&inside);
    inside.uc_stack.ss_sp = coroutine_memory;
    inside.uc_stack.ss_size = sizeof coroutine_memory;
    inside.uc_link = &outside;
    sigfillset(&inside.uc_sigmask);
    makecontext(&inside, coroutine, 0);
    for (int i = 0; i < 50; ++i) {
        swapcontext(&outside, &inside);
        touch(20);
    }
    printf("coroutine: blocked %d %d\n", blocked(SIGBUS), blocked(SIGUSR1));
    return 0;
}
