/* What the memory examples say about themselves: on which node a thread runs and on which nodes pages lie, by system calls
   alone, and how much time went by. They end the program with a word on stderr where the kernel refuses. */
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kMaxNodes = 8 };

static inline void give_up(const char* what) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(2);
}

static inline double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Of the CPU that the calling thread is on. */
static inline int current_node(void) {
    unsigned cpu = 0, node = 0;
    if (syscall(SYS_getcpu, &cpu, &node, NULL) != 0)
        give_up("getcpu");
    return (int)node;
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
