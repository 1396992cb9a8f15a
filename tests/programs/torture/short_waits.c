// Two seconds of waits of a microsecond, each by a call that the kernel never begins again after a signal: none may end
// early with EINTR, however often the thread is interrupted. Nearly all its CPU time is the kernel's.
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

enum { kDescriptors = 100, kRound = 50 };

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void* wait_often(void* interrupted) {
    int ends[2];
    if (pipe(ends) != 0)
        return NULL;
    struct pollfd wanted[kDescriptors];
    for (int i = 0; i < kDescriptors; ++i)
        wanted[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    const struct timespec microsecond = {.tv_nsec = 1000};
    for (const double end = now_s() + 2; now_s() < end;)
        for (int i = 0; i < kRound; ++i) {
            const int failed = i % 3 == 0   ? ppoll(wanted, kDescriptors, &microsecond, NULL)
                               : i % 3 == 1 ? pselect(0, NULL, NULL, NULL, &microsecond, NULL)
                                            : nanosleep(&microsecond, NULL);
            *(long*)interrupted += failed != 0;
        }
    return interrupted;
}

int main(void) {
    long interrupted[2] = {0, 0};
    pthread_t other;
    pthread_create(&other, NULL, wait_often, &interrupted[0]);
    wait_often(&interrupted[1]);
    pthread_join(other, NULL);
    printf("%ld and %ld waits were interrupted\n", interrupted[0], interrupted[1]);
    return interrupted[0] + interrupted[1] != 0;
}
