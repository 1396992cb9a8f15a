// Innocent: threads with equal work meet at a barrier thousands of times, a third one has waited for an event all its life, and
// the first one waits until they are done.
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 2, kRounds = 2500, kSteps = 100000 };

static pthread_barrier_t g_met;
static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_event = PTHREAD_COND_INITIALIZER;
static int g_over;
static double g_sums[kThreads];

static void* compute(void* number) {
    const int thread = (int)(long)number;
    double value = thread;
    for (int round = 0; round < kRounds; round++) {
        for (int step = 0; step < kSteps; step++)
            value = value * 0.999 + sqrt(value + step);
        pthread_barrier_wait(&g_met);
    }
    g_sums[thread] = value;
    return NULL;
}

static void* wait_for_event(void* unused) {
    pthread_mutex_lock(&g_lock);
    while (!g_over)
        pthread_cond_wait(&g_event, &g_lock);
    pthread_mutex_unlock(&g_lock);
    return unused;
}

int main(void) {
    pthread_t threads[kThreads], waiter;
    pthread_barrier_init(&g_met, NULL, kThreads);
    pthread_create(&waiter, NULL, wait_for_event, NULL);
    for (long thread = 0; thread < kThreads; thread++)
        pthread_create(&threads[thread], NULL, compute, (void*)thread);
    for (int thread = 0; thread < kThreads; thread++)
        pthread_join(threads[thread], NULL);
    pthread_mutex_lock(&g_lock);
    g_over = 1;
    pthread_cond_signal(&g_event);
    pthread_mutex_unlock(&g_lock);
    pthread_join(waiter, NULL);
    printf("%.3f\n", g_sums[0] + g_sums[1]);
    return 0;
}
