// Two threads make the parts of a sum in turn, each from what the other one made. Planted: both sleep and look whether the
// other's part is there. Cured: they wait for a condition.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct part {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int is_full;
    double value;
};

static struct part g_there = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
static struct part g_back = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
enum { parts = 250, steps = 60000 };

static void put(struct part* part, double value) {
    pthread_mutex_lock(&part->lock);
    part->value = value;
    part->is_full = 1;
    pthread_cond_signal(&part->filled);
    pthread_mutex_unlock(&part->lock);
}

__attribute__((noinline)) static double get(struct part* part) {
    pthread_mutex_lock(&part->lock);
    while (!part->is_full) {
#ifdef CURED
        pthread_cond_wait(&part->filled, &part->lock);
#else
        pthread_mutex_unlock(&part->lock);
        usleep(5000); // planted: sleep-poll
        pthread_mutex_lock(&part->lock);
#endif
    }
    part->is_full = 0;
    const double value = part->value;
    pthread_mutex_unlock(&part->lock);
    return value;
}

__attribute__((noinline)) static double sum_from(double value) {
    for (int step = 0; step < steps; step++)
        value += sin(value + step) * 1e-3;
    return value;
}

static void* second_half(void* nothing) {
    for (int part = 0; part < parts; part++)
        put(&g_back, sum_from(get(&g_there)));
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, second_half, 0);
    double sum = 0;
    for (int part = 0; part < parts; part++) {
        put(&g_there, sum_from(part));
        sum += get(&g_back);
    }
    pthread_join(thread, 0);
    printf("%.6f\n", sum);
    return 0;
}
