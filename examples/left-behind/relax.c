/* relax SECONDS CPU CPU: a thread fills a field on the first CPU and works on it; after a fifth of the time it goes on on
   the second CPU. The field stays where it is. The thread moves as the scheduler moves threads that it balances: only to
   CPUs that the thread is allowed. A thread that is pinned stays. */
#include "../memory_nodes.h"

#include <pthread.h>
#include <sched.h>

enum { kCount = 4 << 20 }; /* 32 MiB */

static double run_seconds;
static int cpus[2];
volatile double sink;

static void balance_to(int cpu, const cpu_set_t* allowed) {
    cpu_set_t one;
    if (!CPU_ISSET(cpu, allowed))
        return;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        give_up("sched_setaffinity");
}

__attribute__((noinline)) static void fill(double* field) {
    for (size_t i = 0; i < kCount; ++i)
        field[i] = 1; /* first touch */
}

__attribute__((noinline)) static void read_all(const double* field) {
    double sum = 0;
    for (size_t i = 0; i < kCount; ++i)
        sum += field[i]; /* read */
    sink = sum;
}

static void* work(void* unused) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        give_up("sched_getaffinity");
    balance_to(cpus[0], &allowed);
    double* field = malloc(kCount * sizeof *field); /* allocation */
    if (!field)
        give_up("malloc");
    fill(field);
    const double begin = seconds_of(CLOCK_MONOTONIC);
    while (seconds_of(CLOCK_MONOTONIC) < begin + run_seconds / 5)
        read_all(field);
    balance_to(cpus[1], &allowed);
    while (seconds_of(CLOCK_MONOTONIC) < begin + run_seconds)
        read_all(field);
    free(field);
    return unused;
}

int main(int count, char** arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: relax SECONDS CPU CPU\n");
        return 2;
    }
    run_seconds = atof(arguments[1]);
    cpus[0] = atoi(arguments[2]);
    cpus[1] = atoi(arguments[3]);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
