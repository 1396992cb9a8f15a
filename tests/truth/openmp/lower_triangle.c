// Row sums of a lower triangle: row i has i terms. Planted: each thread gets half of the rows, and so a quarter and three
// quarters of the terms. Cured: threads take rows as they finish.
#include <math.h>
#include <omp.h>
#include <stdio.h>

enum { kRows = 6000, kSweeps = 70 };

static double g_sums[kRows];

static double term(int row, int column) { return sqrt((double)row * column + 1); }

static void sum_rows(void) {
#ifdef CURED
#pragma omp parallel for schedule(dynamic, 16)
#else
#pragma omp parallel for // planted: omp-imbalance
#endif
    for (int row = 0; row < kRows; row++) {
        double sum = 0;
        for (int column = 0; column < row; column++)
            sum += term(row, column);
        g_sums[row] += sum;
    }
}

int main(void) {
    for (int sweep = 0; sweep < kSweeps; sweep++)
        sum_rows();
    double all = 0;
    for (int row = 0; row < kRows; row++)
        all += g_sums[row];
    printf("%.6e\n", all);
    return 0;
}
