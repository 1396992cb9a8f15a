/* forecast SECONDS MIB [THREADS]: each thread allocates, first touches and reads MIB of its own, wherever it runs; one
   thread, the first, where THREADS is not said. PLACE(thread): what each thread does before it touches its memory.

   Prints for each thread the node of its CPU when it ended and how many of its pages lie on node 0, 1, ... */
#include "../memory_nodes.h"

#include <pthread.h>

enum { kMaxThreads = 16 };

struct part {
    int number;
    double* table;
    int node;
    pthread_t thread;
};

static double run_seconds;
static size_t part_bytes;
static struct part parts[kMaxThreads];
volatile double sink;

__attribute__((noinline)) static void fill(double* table, size_t count) {
    for (size_t i = 0; i < count; ++i)
        table[i] = (double)i; /* first touch */
}

__attribute__((noinline)) static double add_up(const double* table, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += table[i]; /* use */
    return sum;
}

static void* work(void* argument) {
    struct part* part = argument;
    const size_t count = part_bytes / sizeof(double);
    PLACE(part->number);
    part->table = malloc(part_bytes); /* allocation */
    if (!part->table)
        give_up("malloc");
    fill(part->table, count);
    const double end = seconds_of(CLOCK_MONOTONIC) + run_seconds;
    while (seconds_of(CLOCK_MONOTONIC) < end)
        sink = add_up(part->table, count);
    part->node = current_node();
    return NULL;
}

int main(int count, char** arguments) {
    const int threads = count > 3 ? atoi(arguments[3]) : 1;
    if (count < 3 || threads < 1 || threads > kMaxThreads) {
        fprintf(stderr, "usage: %s SECONDS MIB [THREADS]\n", arguments[0]);
        return 2;
    }
    run_seconds = atof(arguments[1]);
    part_bytes = (size_t)atol(arguments[2]) << 20;
    for (int i = 0; i < threads; ++i) {
        parts[i].number = i;
        if (i > 0)
            pthread_create(&parts[i].thread, NULL, work, &parts[i]);
    }
    work(&parts[0]);
    for (int i = 1; i < threads; ++i)
        pthread_join(parts[i].thread, NULL);
    for (int i = 0; i < threads; ++i) {
        long pages[kMaxNodes] = {0};
        count_pages(parts[i].table, part_bytes, pages);
        printf("%d", parts[i].node);
        for (int node = 0; node < kMaxNodes; ++node)
            printf(" %ld", pages[node]);
        printf("\n");
    }
    return 0;
}
