// Misaligned and unmapped: the handler sees the instruction and the address of the program's own access, also after
// that instruction has been stepped over many times.
#define _GNU_SOURCE
#include "unaligned.h"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

extern char the_load[];
__attribute__((noinline, noclone)) static uint32_t load(const char* from) {
    uint32_t value;
    __asm__ volatile(".globl the_load\nthe_load: movl (%1), %0" : "=r"(value) : "r"(from) : "memory");
    return value;
}

static sigjmp_buf back;
static volatile int right_instruction, right_code;
static char* volatile fault_address;

static void look(int number, siginfo_t* info, void* context) {
    (void)number;
    right_instruction += ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] == (greg_t)(uintptr_t)the_load;
    right_code += info->si_code == SEGV_MAPERR;
    fault_address = info->si_addr;
    siglongjmp(back, 1);
}

int main(void) {
    // Far below the other mappings: the kernel fills holes from above, and a page that the C library or the recording asks for
    // must not come to lie in this one.
    char* const far_below = (char*)0x200000000000;
    char* pages = mmap(far_below, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (pages != far_below)
        return 2;
    munmap(pages + 4096, 4096);
    struct sigaction action = {.sa_sigaction = look, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    static uint32_t sum;
    volatile int right_address = 0;
    for (volatile int round = 0; round < 30; ++round) {
        for (int i = 0; i < 50; ++i)
            sum += load(pages + 1 + i % 7);
        if (sigsetjmp(back, 1) == 0)
            sum += load(pages + 4096 - 2 + (round % 2) * 5);
        else
            right_address += fault_address == pages + 4096 + (round % 2) * 3;
    }
    printf("instruction %d code %d address %d sum %u\n", right_instruction, right_code, right_address, sum);
    fflush(stdout);
    signal(SIGSEGV, SIG_DFL);
    for (int i = 0; i < 50; ++i)
        sum += load(pages + 1);
    return (int)load(pages + 4096 + 1);
}
