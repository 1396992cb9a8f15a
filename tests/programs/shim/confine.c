// Confines itself with seccomp to a handful of system calls, each other one being deadly, and goes on. The argument
// says by which call: prctl or syscall. Before that it asks whether filters exist, which fails on purpose.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(number)                                                                                        \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(int count, char** arguments) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        ALLOW(SYS_write),
        ALLOW(SYS_exit_group),
        ALLOW(SYS_prctl),
        ALLOW(SYS_brk),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    setvbuf(stdout, NULL, _IONBF, 0);
    const int asked = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL);
    printf("asked: %d %s\n", asked, strerror(errno));
    prctl(PR_SET_NAME, "free");
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    const long confined = count > 1 && !strcmp(arguments[1], "syscall")
                              ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                              : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    for (int i = 0; i < 5000; ++i)
        prctl(PR_SET_NAME, i % 2 ? "odd" : "even");
    free(malloc(100));
    printf("confined: %ld\n", confined);
    exit(17);
}
