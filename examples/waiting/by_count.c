// Each thread has half of the rows. The second half of the rows is three quarters of the triangle.
#include "rows.h"

static void* sweep(void* number) {
    const int first = (int)(long)number * (kRows / kThreads);
    for (int round = 0; round < g_sweeps; round++) {
        for (int row = first; row < first + kRows / kThreads; row++)
            sweep_row(row);
        pthread_barrier_wait(&g_swept);
    }
    return NULL;
}

int main(int argc, char** argv) {
    run_threads(argc, argv, sweep);
    return 0;
}
