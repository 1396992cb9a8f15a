/* burn SECONDS [THREADS]: uses CPU time, in a function of its own, and ends. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static double seconds;
static volatile double sink;

__attribute__((noinline)) void burn_cpu(void) {
    struct timespec now;
    do {
        for (int i = 0; i < 100000; ++i)
            sink = sink * 0.999 + i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)now.tv_sec + 1e-9 * (double)now.tv_nsec < seconds);
}

static void* work(void* unused) {
    burn_cpu();
    return unused;
}

int main(int count, char** arguments) {
    seconds = count > 1 ? atof(arguments[1]) : 1;
    const int threads = count > 2 ? atoi(arguments[2]) : 1;
    pthread_t others[256];
    for (int i = 1; i < threads && i < 256; ++i)
        pthread_create(&others[i], NULL, work, NULL);
    burn_cpu();
    for (int i = 1; i < threads && i < 256; ++i)
        pthread_join(others[i], NULL);
    return 0;
}
