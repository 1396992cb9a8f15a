// A parallel function is called from a parallel loop: its own regions have one thread each, as nesting is off.
#include <math.h>
#include <stdio.h>

enum { kRows = 4000, kColumns = 2000, kSteps = 60 };

static double row_sum(int row) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int column = 0; column < kColumns; column++) {
        double value = row + column;
        for (int step = 0; step < kSteps; step++)
            value = sqrt(value + step);
        sum += floor(value * 16);
    }
    return sum;
}

int main(void) {
    double all = 0;
#pragma omp parallel for reduction(+ : all)
    for (int row = 0; row < kRows; row++)
        all += row_sum(row);
    printf("%.0f\n", all);
    return 0;
}
