// Blocks of different size are tasks of the same team, step by step: the Nth has N squared rows. Planted: the longest are made last,
// and one thread is left with the last of them. Cured: the longest are made first.
#include <math.h>
#include <stdio.h>

enum { BLOCKS = 8, STEPS = 60, LENGTH = 60000 };

static double rows(int count) {
    double sum = 0;
    for (int row = 0; row < count * count; row++)
        for (int column = 1; column < LENGTH; column++)
            sum += sqrt(column) / (column + row);
    return sum;
}

int main(void) {
    double sums[BLOCKS] = {0};
    for (int step = 0; step < STEPS; step++) {
#pragma omp parallel // planted: omp-tasks
#pragma omp single
        for (int block = 0; block < BLOCKS; block++) {
#ifdef CURED
            const int count = BLOCKS - block;
#else
            const int count = block + 1;
#endif
#pragma omp task firstprivate(count) shared(sums)
            sums[count - 1] += rows(count);
        }
    }
    double all = 0;
    for (int block = 0; block < BLOCKS; block++)
        all += sums[block];
    printf("%.6f\n", all);
    return 0;
}
