// Two threads sweep a triangle of numbers and meet after each sweep. Planted: each has half of the rows, but the second half is
// three quarters of the triangle. Cured: rows go to the threads in turn.
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { kThreads = 2, kRows = 1200, kSweeps = 160 };

static pthread_barrier_t g_swept;
static double g_rows[kRows];

__attribute__((noinline)) static double sweep_row(int row) {
    double value = row;
    for (int column = 0; column <= row; column++)
        value = value * 0.999 + sqrt(value + column); // planted: thread-imbalance
    return value;
}

static void* sweep(void* number) {
    const int thread = (int)(long)number;
    for (int round = 0; round < kSweeps; round++) {
#ifdef CURED
        for (int row = thread; row < kRows; row += kThreads)
            g_rows[row] += sweep_row(row);
#else
        for (int row = thread * (kRows / kThreads); row < (thread + 1) * (kRows / kThreads); row++)
            g_rows[row] += sweep_row(row);
#endif
        pthread_barrier_wait(&g_swept);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[kThreads];
    pthread_barrier_init(&g_swept, NULL, kThreads);
    for (long thread = 0; thread < kThreads; thread++)
        pthread_create(&threads[thread], NULL, sweep, (void*)thread);
    for (int thread = 0; thread < kThreads; thread++)
        pthread_join(threads[thread], NULL);
    double sum = 0;
    for (int row = 0; row < kRows; row++)
        sum += g_rows[row];
    printf("%.3f\n", sum);
    return 0;
}
