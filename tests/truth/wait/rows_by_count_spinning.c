// Two threads sweep the rows of a triangle and meet at a barrier of their own, which spins. Planted: each has half of the rows.
// Cured: rows go to the threads in turn.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { kThreads = 2, kRows = 1600, kSweeps = 600 };

static double g_numbers[kRows][kRows];
static atomic_int g_arrived, g_phase;

static void meet(void) {
    const int phase = atomic_load(&g_phase);
    if (atomic_fetch_add(&g_arrived, 1) == kThreads - 1) {
        atomic_store(&g_arrived, 0);
        atomic_store(&g_phase, phase + 1);
        return;
    }
    while (atomic_load_explicit(&g_phase, memory_order_acquire) == phase) // planted: spin-wait
        __builtin_ia32_pause();                                           // planted: spin-wait
}

__attribute__((noinline)) static void sweep_row(int row) {
    for (int at = 0; at <= row; at++)
        g_numbers[row][at] = sqrt(g_numbers[row][at] + row);
}

static void* sweep(void* number) {
    const int own = (int)(long)number;
    for (int round = 0; round < kSweeps; round++) {
#ifdef CURED
        for (int row = own; row < kRows; row += kThreads)
#else
        for (int row = own * kRows / kThreads; row < (own + 1) * kRows / kThreads; row++)
#endif
            sweep_row(row);
        meet();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[kThreads];
    for (long thread = 0; thread < kThreads; thread++)
        pthread_create(&threads[thread], NULL, sweep, (void*)thread);
    for (int thread = 0; thread < kThreads; thread++)
        pthread_join(threads[thread], NULL);
    printf("%.0f\n", g_numbers[kRows - 1][kRows - 1]);
    return 0;
}
