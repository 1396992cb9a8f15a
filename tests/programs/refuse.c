/* refuse perf|pages|memory PROGRAM ARGS: runs a program where the kernel answers EPERM to perf_event_open, to the calls that tell
   where pages lie, or to the one that reads another process's memory, as in many containers. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char** arguments) {
    const int pages = count > 1 && !strcmp(arguments[1], "pages"), memory = count > 1 && !strcmp(arguments[1], "memory");
    const unsigned first = pages ? SYS_move_pages : memory ? SYS_process_vm_readv : SYS_perf_event_open;
    const unsigned second = pages ? SYS_get_mempolicy : first;
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (count < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
        perror("refuse");
        return 125;
    }
    execvp(arguments[2], arguments + 2);
    perror(arguments[2]);
    return 127;
}
