// Rows go to the threads in turn, so that both have the same number of long rows.
#include "rows.h"

static void* sweep(void* number) {
    for (int round = 0; round < g_sweeps; round++) {
        for (int row = (int)(long)number; row < kRows; row += kThreads)
            sweep_row(row);
        pthread_barrier_wait(&g_swept);
    }
    return NULL;
}

int main(int argc, char** argv) {
    run_threads(argc, argv, sweep);
    return 0;
}
