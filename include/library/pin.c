/* Placement of the calling thread. Works by itself, without the tool. */
#define _GNU_SOURCE
#include "allowed_cpus.h"

#include <errno.h>
#include <plumb/plumb.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORD_BITS = 8 * sizeof(unsigned long), MOST_NODES = 1024, POLICY_PREFERRED = 1 /* linux/mempolicy.h */ };

int plumb_cpu_count(void) { return plumb_allowed_count(); }

int plumb_cpu_number(int n) { return n < 0 || n >= plumb_allowed_count() ? -1 : plumb_allowed_cpu(n); }

static int take_memory_from(int node) {
    unsigned long nodes[MOST_NODES / WORD_BITS];
    if (node < 0 || node >= MOST_NODES)
        return EINVAL;
    memset(nodes, 0, sizeof nodes);
    nodes[node / WORD_BITS] |= 1ul << (node % WORD_BITS);
    const int before = errno;
    const int error = syscall(SYS_set_mempolicy, POLICY_PREFERRED, nodes, MOST_NODES + 1ul) == 0 ? 0 : errno;
    errno = before;
    return error;
}

int plumb_pin_cpu(int n) {
    const int cpu = plumb_cpu_number(n);
    if (cpu < 0)
        return EINVAL;
    unsigned long cpus[PLUMB_MOST_CPUS / WORD_BITS];
    memset(cpus, 0, sizeof cpus);
    cpus[cpu / WORD_BITS] |= 1ul << (cpu % WORD_BITS);
    const int before = errno;
    const int error = syscall(SYS_sched_setaffinity, 0, sizeof cpus, cpus) == 0 ? 0 : errno;
    errno = before;
    return error;
}

int plumb_pin_memory(int n) {
    const int cpu = plumb_cpu_number(n);
    if (cpu < 0)
        return EINVAL;
    const int before = errno;
    int node = 0;
    char path[96];
    for (; node < MOST_NODES; ++node) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
        if (access(path, F_OK) == 0)
            break;
    }
    errno = before;
    return node < MOST_NODES ? take_memory_from(node) : ENOSYS;
}

int plumb_pin(int n) {
    const int error = plumb_pin_cpu(n);
    if (error != 0)
        return error;
    unsigned cpu = 0, node = 0; /* the thread is on its CPU by now, so the kernel can say where that is */
    if (syscall(SYS_getcpu, &cpu, &node, NULL) != 0)
        return ENOSYS;
    return take_memory_from((int)node);
}
