// Handlers of SIGBUS and SIGTRAP: sent, queued, raised by a real bus error and by a breakpoint; on the ordinary and on an
// alternate stack, once only, restarting.
#define _GNU_SOURCE
#include "unaligned.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static char stack_memory[1 << 16];
static volatile int calls, code, value, on_stack, blocked;
static void* volatile address;
static char* volatile page;

static void note(int number, siginfo_t* info, void* context) {
    char here;
    (void)context;
    touch(3);
    ++calls;
    code = info->si_code;
    value = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
    address = info->si_code == BUS_ADRERR ? info->si_addr : NULL;
    on_stack = &here >= stack_memory && &here < stack_memory + sizeof stack_memory;
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    blocked = sigismember(&mask, number) * 2 + sigismember(&mask, SIGUSR2);
    if (address)
        mmap(page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void say(const char* what) {
    printf("%-12s calls %d code %d value %d stack %d blocked %d\n", what, calls, code, value, on_stack, blocked);
}

int main(void) {
    stack_t stack = {.ss_sp = stack_memory, .ss_size = sizeof stack_memory};
    sigaltstack(&stack, NULL);
    for (int variant = 0; variant < 3; ++variant) {
        struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO}, former;
        if (variant == 1)
            action.sa_flags |= SA_ONSTACK | SA_NODEFER;
        if (variant == 2)
            sigfillset(&action.sa_mask);
        for (int k = 0; k < 2; ++k) {
            const int number = k ? SIGTRAP : SIGBUS;
            sigaction(number, &action, NULL);
            sigaction(number, NULL, &former);
            printf("%d: installed %d flags %x mask %d\n", number, former.sa_sigaction == note, former.sa_flags,
                   sigismember(&former.sa_mask, SIGUSR2));
            touch(500);
            raise(number);
            say("raise");
            kill(getpid(), number);
            say("kill");
            sigqueue(getpid(), number, (union sigval){.sival_int = 4711});
            say("sigqueue");
        }
        FILE* file = tmpfile();
        page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
        page[17] = 1;
        say("bus error");
        printf("address %d\n", address == page + 17);
        munmap(page, 4096);
        fclose(file);
        __asm__ volatile("int3");
        say("breakpoint");
        touch(500);
    }
    signal(SIGBUS, SIG_IGN);
    raise(SIGBUS);
    touch(100);
    struct sigaction once = {.sa_sigaction = note, .sa_flags = SA_SIGINFO | (int)SA_RESETHAND}, former;
    sigaction(SIGBUS, &once, NULL);
    raise(SIGBUS);
    sigaction(SIGBUS, NULL, &former);
    say("once");
    printf("default again %d\n", former.sa_handler == SIG_DFL);
    fflush(stdout);
    touch(100);
    raise(SIGBUS);
    return 1;
}
