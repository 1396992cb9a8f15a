// Threads add terms to one sum. Planted: each computes its term under the lock. Cured: only the addition is under it.
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 2, kTerms = 700, kSteps = 200000 };

static pthread_mutex_t g_sum_lock = PTHREAD_MUTEX_INITIALIZER;
static double g_sum;

__attribute__((noinline)) static double term_of(int term) {
    double value = term;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step); // planted: lock-wait
    return value;
}

static void* add_terms(void* first) {
    for (int term = (int)(long)first; term < kTerms; term += kThreads) {
#ifdef CURED
        const double value = term_of(term);
        pthread_mutex_lock(&g_sum_lock);
#else
        pthread_mutex_lock(&g_sum_lock);
        const double value = term_of(term);
#endif
        g_sum += floor(value);
        pthread_mutex_unlock(&g_sum_lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[kThreads];
    for (long thread = 0; thread < kThreads; thread++)
        pthread_create(&threads[thread], NULL, add_terms, (void*)thread);
    for (int thread = 0; thread < kThreads; thread++)
        pthread_join(threads[thread], NULL);
    printf("%.0f\n", g_sum);
    return 0;
}
