// Equal parts for all threads, in regions of some milliseconds.
#include <math.h>
#include <stdio.h>

enum { kCells = 100000, kRounds = 150, kSteps = 40 };

static double g_cells[kCells];

int main(void) {
    for (int round = 0; round < kRounds; round++) {
#pragma omp parallel for
        for (int cell = 0; cell < kCells; cell++) {
            double value = cell + round;
            for (int step = 0; step < kSteps; step++)
                value = sqrt(value + step);
            g_cells[cell] += value;
        }
    }
    double all = 0;
    for (int cell = 0; cell < kCells; cell++)
        all += g_cells[cell];
    printf("%.6e\n", all);
    return 0;
}
