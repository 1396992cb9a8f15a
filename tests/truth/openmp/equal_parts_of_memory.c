// Equal parts of two large arrays for both threads: where memory serves one CPU better, no other division of the loop helps.
#include <stdio.h>
#include <stdlib.h>

enum { kSteps = 60 };

int main(void) {
    const long count = 16L << 20;
    double* const field = malloc((size_t)count * sizeof *field);
    double* const change = malloc((size_t)count * sizeof *change);
    if (!field || !change)
        return 1;
#pragma omp parallel for
    for (long at = 0; at < count; at++) {
        field[at] = (double)(at % 17);
        change[at] = (double)(at % 13) * 0.5 - 3;
    }
    for (int step = 0; step < kSteps; step++) {
#pragma omp parallel for
        for (long at = 0; at < count; at++)
            field[at] = (field[at] + 0.1 * change[at]) * 0.99;
    }
    double all = 0;
    for (long at = 0; at < count; at += 101)
        all += field[at];
    printf("%.6f\n", all);
    free(change);
    free(field);
    return 0;
}
