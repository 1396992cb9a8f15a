// Two threads put blocks into a short queue, and the first thread, which is slower, takes them out and packs them. It works all the
// time, and the others wait for room in the queue. It is no serial phase: they work beside it whenever there is room. Cured: whoever
// makes a block packs it, and so many threads do that the blocks are made as fast as two could, if there are CPUs for them.
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { kProducers = 2, kMostProducers = 8, kBlocks = 200, kPlaces = 2, kSteps = 400000 };

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_room = PTHREAD_COND_INITIALIZER, g_ready = PTHREAD_COND_INITIALIZER;
static double g_queue[kPlaces];
static int g_count, g_begun;

__attribute__((noinline)) static double make_block(int number) {
    double value = number;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step);
    return value;
}

__attribute__((noinline)) static double pack_block(double value) {
    for (int step = 0; step < 3 * kSteps; step++)
        value = value * 0.998 + sqrt(value + step); // planted: slow-stage
    return value;
}

static void* produce(void* unused) {
    pthread_mutex_lock(&g_lock);
    while (g_begun < kBlocks) {
        const int number = g_begun++;
        pthread_mutex_unlock(&g_lock);
#ifdef CURED
        const double block = pack_block(make_block(number));
#else
        const double block = make_block(number);
#endif
        pthread_mutex_lock(&g_lock);
        while (g_count == kPlaces)
            pthread_cond_wait(&g_room, &g_lock);
        g_queue[g_count++] = block;
        pthread_cond_signal(&g_ready);
    }
    pthread_mutex_unlock(&g_lock);
    return unused;
}

int main(void) {
#ifdef CURED
    const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    const int count = cpus < kProducers ? kProducers : cpus < kMostProducers ? (int)cpus : kMostProducers;
#else
    const int count = kProducers;
#endif
    pthread_t producers[kMostProducers];
    for (int thread = 0; thread < count; thread++)
        pthread_create(&producers[thread], NULL, produce, NULL);
    double sum = 0;
    for (int taken = 0; taken < kBlocks; taken++) {
        pthread_mutex_lock(&g_lock);
        while (g_count == 0)
            pthread_cond_wait(&g_ready, &g_lock);
        const double block = g_queue[--g_count];
        pthread_cond_signal(&g_room);
        pthread_mutex_unlock(&g_lock);
#ifdef CURED
        sum += block;
#else
        sum += pack_block(block);
#endif
    }
    for (int thread = 0; thread < count; thread++)
        pthread_join(producers[thread], NULL);
    printf("%.3f\n", sum);
    return 0;
}
