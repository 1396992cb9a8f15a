// A tracer changes what the kernel says of single steps, as hypervisors that lose a bit of DR6 do now and then: TRAP_BRKPT, as of
// an instruction INT1, and not TRAP_TRACE. The traced child makes unaligned accesses; it must not notice.
#define _GNU_SOURCE
#include "unaligned.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

// An indirect jump through an unaligned word: such an instruction cannot be copied elsewhere, so it is stepped over each time.
static void jump_through_unaligned(int times) {
    static char memory[64] __attribute__((aligned(64)));
    for (int i = 0; i < times; ++i)
        __asm__ volatile("leaq 1f(%%rip), %%rax\n\tmovq %%rax, %%xmm0\n\tmovups %%xmm0, 1(%0)\n\tjmp *1(%0)\n1:"
                         : : "r"(memory) : "rax", "xmm0", "memory");
}

static int be_traced(void) {
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        return 3; // not allowed here
    raise(SIGSTOP);
    touch(300);
    jump_through_unaligned(300);
    return 0;
}

int main(void) {
    const pid_t child = fork();
    if (child == 0)
        exit(be_traced());
    int status;
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
        siginfo_t info;
        if (signal == SIGTRAP && ptrace(PTRACE_GETSIGINFO, child, NULL, &info) == 0 && info.si_code == TRAP_TRACE) {
            info.si_code = TRAP_BRKPT;
            ptrace(PTRACE_SETSIGINFO, child, NULL, &info);
        }
        ptrace(PTRACE_CONT, child, NULL, (void*)(long)signal);
    }
    printf("status %x\n", status);
    return 0;
}
