// A daemon as they plague machines: on one CPU, it works for a while at regular times and sleeps in between.
//
// usage: periodic_daemon CPU BUSY_MS PERIOD_MS SECONDS
// BUSY_MS of CPU time, so that it needs longer where others want the CPU as well.
// Prints "ready" when it begins, and at its end the CPU time it took in all, in seconds, how many times it worked, and how many of
// them did not end within half a period: then others had the CPU for so long that its times are no longer regular.
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int argc, char** argv) {
    if (argc != 5)
        return 2;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(atoi(argv[1]), &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0)
        return 2;
    const double busy_s = atof(argv[2]) * 1e-3, period_s = atof(argv[3]) * 1e-3, end_s = seconds_of(CLOCK_MONOTONIC) + atof(argv[4]);
    printf("ready\n");
    fflush(stdout);
    int times = 0, late = 0;
    for (double next_s = seconds_of(CLOCK_MONOTONIC); next_s < end_s; next_s += period_s) {
        const struct timespec next = {(time_t)next_s, (long)((next_s - (double)(time_t)next_s) * 1e9)};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        const double begin_s = seconds_of(CLOCK_THREAD_CPUTIME_ID);
        while (seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin_s < busy_s) {}
        ++times;
        late += seconds_of(CLOCK_MONOTONIC) - next_s > period_s / 2;
    }
    printf("%.6f %d %d\n", seconds_of(CLOCK_THREAD_CPUTIME_ID), times, late);
    return 0;
}
