/* Two threads, each bound to a CPU of its own, with work of different length: one ends first, and nothing is to blame. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static void* work(void* argument) {
    const long number = (long)argument;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((int)number, &cpus);
    sched_setaffinity(0, sizeof(cpus), &cpus);
    static double results[2];
    double value = (double)number;
    for (long i = 0; i < 350000000 - 120000000 * number; i++)
        value = value * 0.999999 + 1e-3;
    results[number] = value;
    return &results[number];
}

int main(void) {
    pthread_t threads[2];
    for (long number = 0; number < 2; number++)
        pthread_create(&threads[number], NULL, work, (void*)number);
    double sum = 0;
    for (int number = 0; number < 2; number++) {
        void* result;
        pthread_join(threads[number], &result);
        sum += *(double*)result;
    }
    printf("%g\n", sum);
    return 0;
}
