// The program handles the alignment flag itself. usage: own_flag popf|context|killed|read [handlers]
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#define ALIGNMENT_FLAG 0x40000u

static char bytes[64] __attribute__((aligned(64)));
static volatile int hits, adralns, flags_seen;

__attribute__((noinline)) static uint32_t load(const volatile char* from) {
    return *(const volatile uint32_t*)from;
}

// What a trap's own handler does: notes it and clears the flag where it happened.
static void on_bus(int number, siginfo_t* info, void* context) {
    greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
    (void)number;
    ++hits;
    adralns += info->si_code == BUS_ADRALN;
    flags_seen += (registers[REG_EFL] & ALIGNMENT_FLAG) != 0;
    registers[REG_EFL] &= ~(greg_t)ALIGNMENT_FLAG;
}

static void on_user(int number, siginfo_t* info, void* context) {
    greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
    (void)number, (void)info;
    flags_seen += (registers[REG_EFL] & ALIGNMENT_FLAG) != 0;
    registers[REG_EFL] |= ALIGNMENT_FLAG;
}

static void on_other_user(int number, siginfo_t* info, void* context) {
    (void)number, (void)info;
    flags_seen += (((ucontext_t*)context)->uc_mcontext.gregs[REG_EFL] & ALIGNMENT_FLAG) != 0;
}

static void handle(int number, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO};
    sigaction(number, &action, NULL);
}

static void set_flag(void) {
#ifdef WITH_POPF
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | ALIGNMENT_FLAG);
#endif
}

static int read_flag(void) {
#ifdef WITH_POPF
    return (__builtin_ia32_readeflags_u64() & ALIGNMENT_FLAG) != 0;
#else
    return 0;
#endif
}

int main(int count, char** arguments) {
    const char* what = count > 1 ? arguments[1] : "";
    uint32_t sum = 0;
    for (int i = 0; i < 200; ++i)
        sum += load(bytes + 1);
    if (strcmp(what, "killed") == 0) {
        handle(SIGUSR1, on_user);
#ifdef WITH_POPF
        set_flag();
#else
        kill(getpid(), SIGUSR1);
#endif
        sum += load(bytes + 1);
        puts("survived");
        return 0;
    }
    handle(SIGBUS, on_bus);
    handle(SIGUSR1, on_user);
    handle(SIGUSR2, on_other_user);
    for (int i = 0; i < 50; ++i) {
        kill(getpid(), SIGUSR2);
        if (strcmp(what, "context") == 0)
            kill(getpid(), SIGUSR1);
        else if (strcmp(what, "popf") == 0)
            set_flag();
        flags_seen += read_flag();
        sum += load(bytes + 1);
        sum += load(bytes + 3);
    }
    printf("%s: hits %d adraln %d flags %d sum %u\n", what, hits, adralns, flags_seen, sum);
    return 0;
}
