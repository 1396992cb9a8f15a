// Innocent: a value is followed with a fixed period. What a step leaves of its period is slept; a second thread filters what
// the steps make, and has all of it in time.
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

enum { steps = 200, period_ns = 15000000 };

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_made = PTHREAD_COND_INITIALIZER;
static int g_steps;
static double g_value;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

__attribute__((noinline)) static double follow(double value, int count) {
    for (int step = 0; step < count; step++)
        value += sin(value + step) * 1e-3;
    return value;
}

static void* filter(void* result) {
    for (int step = 0; step < steps; step++) {
        pthread_mutex_lock(&g_lock);
        while (g_steps <= step)
            pthread_cond_wait(&g_made, &g_lock);
        const double value = g_value;
        pthread_mutex_unlock(&g_lock);
        *(double*)result += follow(value, 100000);
    }
    return 0;
}

int main(void) {
    double filtered = 0, value = 0;
    pthread_t thread;
    pthread_create(&thread, 0, filter, &filtered);
    for (int step = 0; step < steps; step++) {
        const int64_t begin_ns = now_ns();
        value = follow(value, 100000 + step % 7 * 20000);
        pthread_mutex_lock(&g_lock);
        g_value = value;
        g_steps++;
        pthread_cond_signal(&g_made);
        pthread_mutex_unlock(&g_lock);
        const int64_t rest_ns = period_ns - (now_ns() - begin_ns);
        if (rest_ns > 0) {
            const struct timespec rest = {0, rest_ns};
            nanosleep(&rest, 0);
        }
    }
    pthread_join(thread, 0);
    printf("%.6f\n", value);
    return filtered == 0.5;
}
