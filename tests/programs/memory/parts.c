/* parts SECONDS MIB serial|parallel CPU...: one table of MIB, of which each CPU's thread uses a part of its own. It is
   filled by the first thread alone, or by each thread its part.

   Prints how many pages of each part lie on node 0, 1, ... */
#include "place.h"

#include <pthread.h>

enum { kMaxThreads = 16 };

struct part {
    int cpu;
    double* begin;
    pthread_t thread;
};

static double run_seconds;
static int is_serial;
static size_t part_bytes;
static struct part parts[kMaxThreads];
static pthread_barrier_t filled;
volatile double sink;

__attribute__((noinline)) static void fill(double* part, size_t count) {
    for (size_t i = 0; i < count; ++i)
        part[i] = (double)i; /* first touch */
}

__attribute__((noinline)) static double add_up(const double* part, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += part[i]; /* use */
    return sum;
}

static void* work(void* argument) {
    struct part* part = argument;
    const size_t count = part_bytes / sizeof(double);
    pin_to(part->cpu);
    if (!is_serial)
        fill(part->begin, count);
    pthread_barrier_wait(&filled);
    const double end = seconds_of(CLOCK_MONOTONIC) + run_seconds;
    while (seconds_of(CLOCK_MONOTONIC) < end)
        sink = add_up(part->begin, count);
    return NULL;
}

int main(int count, char** arguments) {
    const int threads = count - 4;
    if (threads < 1 || threads > kMaxThreads) {
        fprintf(stderr, "usage: parts SECONDS MIB serial|parallel CPU...\n");
        return 2;
    }
    run_seconds = atof(arguments[1]);
    is_serial = strcmp(arguments[3], "serial") == 0;
    part_bytes = ((size_t)atol(arguments[2]) << 20) / (size_t)threads & ~(size_t)4095;
    char* const table = malloc(part_bytes * (size_t)threads); /* allocation */
    if (!table)
        give_up("malloc");
    pin_to(atoi(arguments[4]));
    if (is_serial)
        fill((double*)table, part_bytes * (size_t)threads / sizeof(double));
    pthread_barrier_init(&filled, NULL, (unsigned)threads);
    for (int i = 0; i < threads; ++i) {
        parts[i].cpu = atoi(arguments[4 + i]);
        parts[i].begin = (double*)(table + (size_t)i * part_bytes);
        pthread_create(&parts[i].thread, NULL, work, &parts[i]);
    }
    for (int i = 0; i < threads; ++i)
        pthread_join(parts[i].thread, NULL);
    for (int i = 0; i < threads; ++i) {
        long pages[kMaxNodes] = {0};
        count_pages(parts[i].begin, part_bytes, pages);
        for (int node = 0; node < kMaxNodes; ++node)
            printf("%ld ", pages[node]);
        printf("\n");
    }
    return 0;
}
