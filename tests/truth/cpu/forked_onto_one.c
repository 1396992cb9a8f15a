/* A server forks three workers. Planted: it has bound itself to CPU 0 before, and they inherit that. Cured: it gives its
   children the mask it was started with. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3 };

static int work(int number) {
    double value = number;
    for (long i = 0; i < 300000000; i++)
        value = value * 0.999999 + 1e-3;
    return value > 1e9;
}

int main(void) {
    cpu_set_t started, one;
    sched_getaffinity(0, sizeof(started), &started);
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (int number = 0; number < WORKERS; number++)
        if (fork() == 0) {
#ifdef CURED
            sched_setaffinity(0, sizeof(started), &started);
#endif
            exit(work(number));
        }
    int status, failed = 0;
    while (wait(&status) > 0)
        failed += status != 0;
    printf("%d failed\n", failed);
    return 0;
}
