// A thread makes blocks and puts them into a bounded queue; one thread takes them out and packs them, which takes four times as
// long. The queue is full all the time. Cured: as many threads pack as keep up with it and have a CPU.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { kBlocks = 1200, kPlaces = 16, kSteps = 60000, kMostPackers = 4 };

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_room = PTHREAD_COND_INITIALIZER, g_ready = PTHREAD_COND_INITIALIZER;
static int g_queue[kPlaces], g_first, g_count, g_closed;
static double g_made[kBlocks], g_packed[kBlocks];

__attribute__((noinline)) static double make_block(int number) {
    double value = number;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step);
    return value;
}

__attribute__((noinline)) static double pack_block(double value) {
    for (int step = 0; step < 4 * kSteps; step++)
        value = value * 0.998 + sqrt(value + step); // planted: slow-stage
    return value;
}

static void* make_all(void* unused) {
    for (int number = 0; number < kBlocks; number++) {
        g_made[number] = make_block(number);
        pthread_mutex_lock(&g_lock);
        while (g_count == kPlaces)
            pthread_cond_wait(&g_room, &g_lock);
        g_queue[(g_first + g_count++) % kPlaces] = number;
        pthread_cond_signal(&g_ready);
        pthread_mutex_unlock(&g_lock);
    }
    pthread_mutex_lock(&g_lock);
    g_closed = 1;
    pthread_cond_broadcast(&g_ready);
    pthread_mutex_unlock(&g_lock);
    return unused;
}

static void* pack_all(void* unused) {
    for (;;) {
        pthread_mutex_lock(&g_lock);
        while (g_count == 0 && !g_closed)
            pthread_cond_wait(&g_ready, &g_lock);
        if (g_count == 0)
            break;
        const int number = g_queue[g_first];
        g_first = (g_first + 1) % kPlaces;
        g_count--;
        pthread_cond_signal(&g_room);
        pthread_mutex_unlock(&g_lock);
        g_packed[number] = pack_block(g_made[number]);
    }
    pthread_mutex_unlock(&g_lock);
    return unused;
}

int main(void) {
#ifdef CURED
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const int count = cpus < kMostPackers ? (int)cpus : kMostPackers;
#else
    const int count = 1;
#endif
    pthread_t maker, packers[kMostPackers];
    pthread_create(&maker, NULL, make_all, NULL);
    for (int thread = 0; thread < count; thread++)
        pthread_create(&packers[thread], NULL, pack_all, NULL);
    pthread_join(maker, NULL);
    for (int thread = 0; thread < count; thread++)
        pthread_join(packers[thread], NULL);
    double sum = 0;
    for (int number = 0; number < kBlocks; number++)
        sum += g_packed[number];
    printf("%.3f\n", sum);
    return 0;
}
