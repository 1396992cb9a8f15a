/* Where threads and their data are put, by system calls alone: libnuma is not needed. All of them end the program with
   a word on stderr where the kernel refuses: what follows would test nothing. */
#pragma once
#include "memory_nodes.h"

#include <sched.h>
#include <sys/mman.h>

enum { kBind = 2, kInterleave = 3 }; /* MPOL_BIND, MPOL_INTERLEAVE */

static inline void pin_to(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        give_up("sched_setaffinity");
}

/* Fresh pages, in none of memory yet; small ones, so that each can lie where it is wanted. */
static inline double* fresh_pages(size_t bytes) {
    void* pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        give_up("mmap");
    madvise(pages, bytes, MADV_NOHUGEPAGE);
    return pages;
}

static inline void set_policy(void* pages, size_t bytes, int policy, unsigned long nodes) {
    if (syscall(SYS_mbind, pages, bytes, policy, &nodes, 8 * sizeof nodes, 0) != 0)
        give_up("mbind");
}
