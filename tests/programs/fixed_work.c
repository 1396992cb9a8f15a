// The simplest measurement of noise: one thread a CPU does the same work again and again, and each turn's excess over the
// fastest counts as lost.
//
// usage: fixed_work MILLISECONDS_A_TURN SECONDS CPU...
// Prints "lost FRACTION fastest_us N turns N" of each CPU, then of all.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double turn_s, all_s;
static pthread_barrier_t together;

typedef struct {
    int cpu;
    double lost_s, fastest_s, spent_s;
    long turns;
} Worker;

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t work(long rounds, uint64_t value) {
    for (long i = 0; i < rounds; ++i) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        __asm__ volatile("" : "+r"(value)); // nothing of it is left out or done at once
    }
    return value;
}

static void* run(void* argument) {
    Worker* const worker = argument;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(worker->cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        exit(2);
    uint64_t value = 1;
    double best_s = 1;
    for (int i = 0; i < 300; ++i) {
        const double begin = now_s();
        value = work(100000, value);
        const double took = now_s() - begin;
        best_s = took < best_s ? took : best_s;
    }
    const long rounds = (long)(turn_s / best_s * 100000), most = (long)(2 * all_s / turn_s) + 1;
    double* const took_s = malloc((size_t)most * sizeof *took_s);
    for (long i = 0; i < most; ++i)
        took_s[i] = 1e9;
    pthread_barrier_wait(&together);
    const double begin = now_s();
    double last = begin;
    long turns = 0;
    while (last - begin < all_s && turns < most) {
        value = work(rounds, value);
        const double now = now_s();
        took_s[turns++] = now - last;
        last = now;
    }
    worker->fastest_s = 1e9;
    for (long i = 0; i < turns; ++i)
        worker->fastest_s = took_s[i] < worker->fastest_s ? took_s[i] : worker->fastest_s;
    worker->spent_s = last - begin;
    worker->lost_s = worker->spent_s - (double)turns * worker->fastest_s;
    worker->turns = turns + (value == 0);
    if (getenv("FIXED_WORK_TURNS"))
        for (long i = 0; i < turns; ++i)
            printf("turn %d %.0f\n", worker->cpu, took_s[i] * 1e9);
    free(took_s);
    return NULL;
}

int main(int argc, char** argv) {
    if (argc < 4)
        return 2;
    turn_s = atof(argv[1]) * 1e-3;
    all_s = atof(argv[2]);
    const int count = argc - 3;
    Worker workers[256] = {0};
    pthread_t threads[256];
    if (count > 256 || pthread_barrier_init(&together, NULL, (unsigned)count) != 0)
        return 2;
    for (int i = 0; i < count; ++i) {
        workers[i].cpu = atoi(argv[3 + i]);
        pthread_create(&threads[i], NULL, run, &workers[i]);
    }
    double lost_s = 0, spent_s = 0;
    for (int i = 0; i < count; ++i) {
        pthread_join(threads[i], NULL);
        lost_s += workers[i].lost_s;
        spent_s += workers[i].spent_s;
        printf("cpu %d lost %.5f fastest_us %.3f turns %ld\n", workers[i].cpu, workers[i].lost_s / workers[i].spent_s,
               workers[i].fastest_s * 1e6, workers[i].turns);
    }
    printf("all lost %.5f\n", lost_s / spent_s);
    return 0;
}
