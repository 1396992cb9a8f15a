/* node_shares SECONDS WORKER...: threads that divide their time between blocks of memory whose place is known.

   WORKER is CPU[>CPU]:SHARE[,SHARE...]: the CPU it is pinned to (and the one it moves to after half of the time), and
   its blocks. SHARE is HOW[NODE]=WEIGHT[w]: bound to a node (b0), first touched by the worker itself (t), by a CPU
   (t2: CPU 2), or interleaved over nodes 0 and 1 (i); WEIGHT is its part of the worker's time; w: stores, not loads.

   Stays for a second when all are done, so that a recorder that looks now and then has looked at all of it. Prints for
   each share and CPU: WORKER CPU NANOSECONDS ACCESSES PAGES..., the thread's CPU time and its accesses there, and how
   many of the block's pages lie on node 0, 1, ... */
#include "place.h"

#include <pthread.h>

enum { kBlockBytes = 1 << 20, kMaxShares = 4, kMaxWorkers = 16 };

struct share {
    char how;
    int number; /* node or CPU; -1: none */
    double weight;
    int stores;
    double* block;
    double seconds[2]; /* on the first CPU and on the second */
    long accesses[2];
};

struct worker {
    int cpu[2];
    int share_count;
    struct share shares[kMaxShares];
    pthread_t thread;
};

static double run_seconds;
static pthread_barrier_t placed;
static struct worker workers[kMaxWorkers];
volatile double sink;

__attribute__((noinline)) static void load_block(const double* block) {
    double sum = 0;
    for (size_t i = 0; i < kBlockBytes / sizeof *block; ++i)
        sum += block[i];
    sink = sum;
}

__attribute__((noinline)) static void store_block(double* block, double value) {
    for (size_t i = 0; i < kBlockBytes / sizeof *block; ++i)
        block[i] = value;
}

static void place(struct share* share, int own_cpu) {
    share->block = fresh_pages(kBlockBytes);
    if (share->how == 'b')
        set_policy(share->block, kBlockBytes, kBind, 1UL << share->number);
    if (share->how == 'i')
        set_policy(share->block, kBlockBytes, kInterleave, 3);
    if (share->how == 't' && share->number >= 0)
        pin_to(share->number);
    store_block(share->block, 1);
    pin_to(own_cpu);
}

static struct share* most_behind(struct worker* worker) {
    struct share* found = &worker->shares[0];
    for (int i = 1; i < worker->share_count; ++i) {
        struct share* other = &worker->shares[i];
        if ((other->seconds[0] + other->seconds[1]) / other->weight <
            (found->seconds[0] + found->seconds[1]) / found->weight)
            found = other;
    }
    return found;
}

static void* work(void* argument) {
    struct worker* worker = argument;
    pin_to(worker->cpu[0]);
    for (int i = 0; i < worker->share_count; ++i)
        place(&worker->shares[i], worker->cpu[0]);
    pthread_barrier_wait(&placed);
    const double begin = seconds_of(CLOCK_MONOTONIC);
    for (int phase = 0; phase < 2; ++phase) {
        if (worker->cpu[phase] != worker->cpu[0])
            pin_to(worker->cpu[phase]);
        const double end = begin + run_seconds * (phase + 1) / 2;
        double before = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        while (seconds_of(CLOCK_MONOTONIC) < end) {
            struct share* share = most_behind(worker);
            share->stores ? store_block(share->block, 2) : load_block(share->block);
            const double after = seconds_of(CLOCK_THREAD_CPUTIME_ID);
            share->seconds[phase] += after - before;
            share->accesses[phase] += (long)(kBlockBytes / sizeof(double));
            before = after;
        }
    }
    return NULL;
}

static int read_worker(const char* text, struct worker* worker) {
    int used = 0;
    if (sscanf(text, "%d%n", &worker->cpu[0], &used) != 1)
        return 0;
    text += used;
    worker->cpu[1] = worker->cpu[0];
    if (*text == '>') {
        if (sscanf(text, ">%d%n", &worker->cpu[1], &used) != 1)
            return 0;
        text += used;
    }
    while ((*text == ':' || *text == ',') && worker->share_count < kMaxShares) {
        struct share* share = &worker->shares[worker->share_count++];
        share->how = text[1];
        text += 2;
        share->number = *text == '=' ? -1 : (int)strtol(text, (char**)&text, 10);
        if (sscanf(text, "=%lf%n", &share->weight, &used) != 1 || share->weight <= 0)
            return 0;
        text += used;
        share->stores = *text == 'w';
        text += share->stores;
    }
    return *text == 0 && worker->share_count > 0;
}

static void print_share(int number, const struct worker* worker, const struct share* share) {
    long pages[kMaxNodes] = {0};
    count_pages(share->block, kBlockBytes, pages);
    for (int phase = 0; phase < 2; ++phase) {
        printf("%d %d %.0f %ld", number, worker->cpu[phase], 1e9 * share->seconds[phase], share->accesses[phase]);
        for (int node = 0; node < kMaxNodes; ++node)
            printf(" %ld", pages[node]);
        printf("\n");
    }
}

int main(int count, char** arguments) {
    const int workers_wanted = count - 2;
    run_seconds = count > 1 ? atof(arguments[1]) : 0;
    for (int i = 0; i < workers_wanted; ++i)
        if (i >= kMaxWorkers || !read_worker(arguments[i + 2], &workers[i])) {
            fprintf(stderr, "node_shares: not understood: %s\n", arguments[i + 2]);
            return 2;
        }
    if (workers_wanted < 1 || run_seconds <= 0) {
        fprintf(stderr, "usage: node_shares SECONDS WORKER...\n");
        return 2;
    }
    pthread_barrier_init(&placed, NULL, (unsigned)workers_wanted);
    for (int i = 0; i < workers_wanted; ++i)
        pthread_create(&workers[i].thread, NULL, work, &workers[i]);
    for (int i = 0; i < workers_wanted; ++i)
        pthread_join(workers[i].thread, NULL);
    sleep(1);
    for (int i = 0; i < workers_wanted; ++i)
        for (int j = 0; j < workers[i].share_count; ++j)
            print_share(i, &workers[i], &workers[i].shares[j]);
    return 0;
}
