/* Where threads and their data are put, by system calls alone: libnuma is not needed. All of them end the program with
   a word on stderr where the kernel refuses: what follows would test nothing. */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kMaxNodes = 8 };
enum { kBind = 2, kInterleave = 3 }; /* MPOL_BIND, MPOL_INTERLEAVE */

static inline void give_up(const char* what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(2);
}

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

/* Adds to count[node] the pages of a range that lie on the node. */
static inline void count_pages(void* pages, size_t bytes, long count[kMaxNodes]) {
    const long page_bytes = sysconf(_SC_PAGESIZE);
    for (size_t at = 0; at < bytes; at += (size_t)page_bytes) {
        void* page = (char*)pages + at;
        int node = -1;
        if (syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0) != 0)
            give_up("move_pages");
        if (node >= 0 && node < kMaxNodes)
            ++count[node];
    }
}

static inline double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
