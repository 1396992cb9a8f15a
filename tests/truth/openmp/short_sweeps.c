// A relaxation of a short line, many times. Planted: each sweep is a parallel region of its own, for less than a microsecond of work.
// Cured: one thread does it.
#include <math.h>
#include <stdio.h>

enum { kCells = 256, kSweeps = 1000000 };

static double g_line[2][kCells + 2];

static void sweep(const double* from, double* to) {
#ifndef CURED
#pragma omp parallel for // planted: omp-small-regions
#endif
    for (int cell = 1; cell <= kCells; cell++)
        to[cell] = 0.25 * (from[cell - 1] + 2 * from[cell] + from[cell + 1]);
}

int main(void) {
    g_line[0][0] = g_line[1][0] = 1;
    for (int round = 0; round < kSweeps; round++)
        sweep(g_line[round & 1], g_line[1 - (round & 1)]);
    double all = 0;
    for (int cell = 1; cell <= kCells; cell++)
        all += g_line[0][cell];
    printf("%.9f\n", all);
    return 0;
}
