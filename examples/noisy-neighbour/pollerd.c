// A monitoring daemon: every 500 ms it is busy for 20 ms of CPU time, on the CPU that it was confined to.
//
// usage: pollerd CPU [SECONDS [BUSY_MS [PERIOD_MS]]]
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: pollerd CPU [SECONDS [BUSY_MS [PERIOD_MS]]]\n");
        return 2;
    }
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)atoi(argv[1]), &cpus);
    if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) {
        perror("pollerd: cannot use this CPU");
        return 1;
    }
    const double end = seconds_of(CLOCK_MONOTONIC) + (argc > 2 ? atof(argv[2]) : 60);
    const double busy = 1e-3 * (argc > 3 ? atof(argv[3]) : 20), period = 1e-3 * (argc > 4 ? atof(argv[4]) : 500);
    for (double next = seconds_of(CLOCK_MONOTONIC) + period; next < end; next += period) {
        const struct timespec at = {(time_t)next, (long)(1e9 * (next - (double)(time_t)next))};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        const double begin = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        while (seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin < busy) {
        }
    }
    return 0;
}
