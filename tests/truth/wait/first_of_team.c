// Equal threads work in steps and meet at a barrier. Planted: between two steps the first of them mixes the table for all, and
// the others wait at the barrier. Cured: each mixes its own part.
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 2, kRounds = 40, kEntries = 40000, kPart = kEntries / kThreads };

static pthread_barrier_t g_met;
static double g_table[kEntries], g_mixed[kEntries];

__attribute__((noinline)) static void fill(int begin, int end) {
    for (int entry = begin; entry < end; entry++)
        for (int step = 0; step < 120; step++)
            g_table[entry] = sqrt(g_table[entry] + entry + step);
}

__attribute__((noinline)) static void mix(int begin, int end) {
    for (int entry = begin; entry < end; entry++)
        for (int step = 0; step < 80; step++)
            g_mixed[entry] = sqrt(g_mixed[entry] + g_table[kEntries - 1 - entry]); // planted: serial-part
}

static void* work(void* number) {
    const int thread = (int)(long)number;
    for (int round = 0; round < kRounds; round++) {
        fill(kPart * thread, kPart * (thread + 1));
        pthread_barrier_wait(&g_met);
#ifdef CURED
        mix(kPart * thread, kPart * (thread + 1));
#else
        if (thread == 0)
            mix(0, kEntries); // planted: serial-part
#endif
        pthread_barrier_wait(&g_met);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[kThreads];
    pthread_barrier_init(&g_met, NULL, kThreads);
    for (long thread = 0; thread < kThreads; thread++)
        pthread_create(&threads[thread], NULL, work, (void*)thread);
    for (int thread = 0; thread < kThreads; thread++)
        pthread_join(threads[thread], NULL);
    printf("%.6f\n", g_table[5] + g_mixed[6]);
    return 0;
}
