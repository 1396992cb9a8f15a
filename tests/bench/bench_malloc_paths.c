// bench_malloc_paths ROUNDS: CPU nanoseconds of one malloc/free pair of 64 bytes, each from another of 65,536 call paths.
// First figure: sixteen functions that each call the next from two places, so that all paths differ in their addresses.
// Second: one function that calls itself from two places. The best of the rounds; the first round, which meets every path
// for the first time, is printed apart as the third and fourth figure.
#define _GNU_SOURCE
#include "../programs/call_levels.h"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
enum { DEPTH = 16, PATHS = 1 << DEPTH };

static double cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

APART static void pair(void) {
    void* block = malloc(64);
    __asm__ volatile("" : "+r"(block) : : "memory");
    free(block);
    __asm__ volatile("");
}

#define LEVEL(name, next)                                                                                    \
    APART static void name(void) {                                                                           \
        next();                                                                                              \
        __asm__ volatile("");                                                                                \
        next();                                                                                              \
        __asm__ volatile("");                                                                                \
    }
SIXTEEN_LEVELS(pair)

APART static void descend(int depth) {
    if (depth == 0) {
        pair();
        return;
    }
    descend(depth - 1);
    __asm__ volatile("");
    descend(depth - 1);
    __asm__ volatile("");
}

APART static void recurse(void) { descend(DEPTH); }

static void measure(void (*paths)(void), int rounds, double* best, double* first) {
    *best = 1e12;
    for (int round = 0; round < rounds; ++round) {
        const double begin = cpu_ns();
        paths();
        const double now = (cpu_ns() - begin) / PATHS;
        if (round == 0)
            *first = now;
        else if (now < *best)
            *best = now;
    }
}

int main(int count, char** arguments) {
    const int rounds = count > 1 ? atoi(arguments[1]) : 20;
    double best[2], first[2];
    measure(level16, rounds, &best[0], &first[0]);
    measure(recurse, rounds, &best[1], &first[1]);
    printf("%.2f %.2f %.2f %.2f\n", best[0], best[1], first[0], first[1]);
    return 0;
}
