// Innocent: the first thread only hands out steps. It meets its team, which has equal work, at two barriers for each step.
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 2, kRounds = 90, kSteps = 2000000 };

static pthread_barrier_t g_begin, g_end;
static double g_sums[kThreads];

__attribute__((noinline)) static double step_of(double value) {
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step);
    return value;
}

static void* work(void* number) {
    const long thread = (long)number;
    for (int round = 0; round < kRounds; round++) {
        pthread_barrier_wait(&g_begin);
        g_sums[thread] = step_of(g_sums[thread]);
        pthread_barrier_wait(&g_end);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[kThreads];
    pthread_barrier_init(&g_begin, NULL, kThreads + 1);
    pthread_barrier_init(&g_end, NULL, kThreads + 1);
    for (long thread = 0; thread < kThreads; thread++)
        pthread_create(&threads[thread], NULL, work, (void*)thread);
    double all = 0;
    for (int round = 0; round < kRounds; round++) {
        pthread_barrier_wait(&g_begin);
        pthread_barrier_wait(&g_end);
        all += g_sums[0] + g_sums[1];
    }
    for (int thread = 0; thread < kThreads; thread++)
        pthread_join(threads[thread], NULL);
    printf("%.3f\n", all);
    return 0;
}
