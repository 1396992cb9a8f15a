// bench_malloc THREADS PAIRS: CPU nanoseconds of one malloc/free pair of 64 bytes at call depth 10, the slowest of the
// threads, the best of three rounds of each.
#define _GNU_SOURCE
#include "../programs/call_levels.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define APART __attribute__((noinline, noclone))
static long pairs;

static double cpu_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

APART static double loop(void) {
    const double begin = cpu_ns();
    for (long i = 0; i < pairs; ++i) {
        void* block = malloc(64);
        __asm__ volatile("" : "+r"(block) : : "memory");
        free(block);
    }
    return (cpu_ns() - begin) / (double)pairs;
}

#define LEVEL(name, next)                                                                                    \
    APART static double name(void) {                                                                         \
        double result = next();                                                                              \
        __asm__ volatile("" : "+x"(result));                                                                 \
        return result;                                                                                       \
    }
SEVEN_LEVELS(loop)

static void* measure(void* result) {
    double best = 1e12;
    for (int round = 0; round < 3; ++round) {
        const double now = level7();
        if (now < best)
            best = now;
    }
    *(double*)result = best;
    return NULL;
}

int main(int count, char** arguments) {
    int threads = count > 1 ? atoi(arguments[1]) : 1;
    pairs = count > 2 ? atol(arguments[2]) : 1000000;
    double results[64] = {0}, slowest = 0;
    pthread_t handles[64];
    if (threads > 64)
        threads = 64;
    if (threads == 1)
        measure(&results[0]);
    for (int i = 0; threads > 1 && i < threads; ++i)
        if (pthread_create(&handles[i], NULL, measure, &results[i]))
            return 1;
    for (int i = 0; threads > 1 && i < threads; ++i)
        pthread_join(handles[i], NULL);
    for (int i = 0; i < threads; ++i)
        if (results[i] > slowest)
            slowest = results[i];
    printf("%.2f\n", slowest);
    return 0;
}
