// memory_limit: allocates on 4,096 call paths when the address space may not grow any more.
#define _GNU_SOURCE
#include "../call_levels.h"
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

static long given;
static volatile int marker; // keeps the two calls apart

// Each level calls the next from two places; the path's bits say which. Recursion would be folded into one path.
#define LEVEL(name, next)                                                                                    \
    __attribute__((noinline)) static void name(unsigned path) {                                              \
        if (path & 1)                                                                                        \
            next(path >> 1), marker = 1;                                                                     \
        else                                                                                                 \
            next(path >> 1), marker = 2;                                                                     \
    }
__attribute__((noinline)) static void leaf(unsigned path) {
    void* block = malloc(24 + path);
    given += block != NULL;
    free(block);
}
TWELVE_LEVELS(leaf)

int main(void) {
    free(malloc(100)); // the allocator and whoever watches it are set up
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld", &pages) != 1)
        return 1;
    fclose(file);
    const rlim_t bytes = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    const struct rlimit limit = {bytes, bytes};
    if (setrlimit(RLIMIT_AS, &limit))
        return 1;
    for (unsigned path = 0; path < 4096; ++path)
        level12(path);
    printf("blocks: %ld\n", given);
    return 0;
}
