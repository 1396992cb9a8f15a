/* triad SECONDS MIB CPU...: a = b + s c over three arrays of MIB each, again and again for so long. Each CPU has one thread,
   which allocates, first touches and uses a part of its own: with room on its node, all of it is local.

   Prints how much of the triad was done a second, and how many pages lie on node 0, 1, ... */
#include "../memory_nodes.h"

#include <pthread.h>
#include <sched.h>

enum { kMaxThreads = 16 };

struct part {
    int cpu;
    double* arrays[3];
    double bytes; /* moved */
    pthread_t thread;
};

static double run_seconds;
static size_t part_bytes;
static struct part parts[kMaxThreads];

__attribute__((noinline)) static void fill(double* array, size_t count) {
    for (size_t i = 0; i < count; ++i)
        array[i] = (double)i; /* first touch */
}

__attribute__((noinline)) static void add_scaled(double* restrict a, const double* restrict b,
                                                 const double* restrict c, size_t count) {
    for (size_t i = 0; i < count; ++i)
        a[i] = b[i] + 0.5 * c[i]; /* triad */
}

static void pin_to(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        give_up("sched_setaffinity");
}

static void* work(void* argument) {
    struct part* part = argument;
    const size_t count = part_bytes / sizeof(double);
    pin_to(part->cpu);
    for (int i = 0; i < 3; ++i) {
        part->arrays[i] = malloc(part_bytes); /* allocation */
        if (!part->arrays[i])
            give_up("malloc");
        fill(part->arrays[i], count);
    }
    const double end = seconds_of(CLOCK_MONOTONIC) + run_seconds;
    while (seconds_of(CLOCK_MONOTONIC) < end) {
        add_scaled(part->arrays[0], part->arrays[1], part->arrays[2], count);
        part->bytes += 3.0 * (double)part_bytes;
    }
    return NULL;
}

int main(int count, char** arguments) {
    const int threads = count - 3;
    if (threads < 1 || threads > kMaxThreads) {
        fprintf(stderr, "usage: triad SECONDS MIB CPU...\n");
        return 2;
    }
    run_seconds = atof(arguments[1]);
    /* Whole pages: those at a part's ends are counted with the part. */
    part_bytes = ((size_t)atol(arguments[2]) << 20) / (size_t)threads & ~(size_t)4095;
    for (int i = 0; i < threads; ++i) {
        parts[i].cpu = atoi(arguments[3 + i]);
        pthread_create(&parts[i].thread, NULL, work, &parts[i]);
    }
    long pages[kMaxNodes] = {0};
    double bytes = 0;
    for (int i = 0; i < threads; ++i) {
        pthread_join(parts[i].thread, NULL);
        bytes += parts[i].bytes;
        for (int j = 0; j < 3; ++j)
            count_pages(parts[i].arrays[j], part_bytes, pages);
    }
    printf("%.2f GB/s, pages on nodes:", bytes / run_seconds * 1e-9);
    for (int node = 0; node < kMaxNodes; ++node)
        printf(" %ld", pages[node]);
    printf("\n");
    return 0;
}
