// Iterations of very different length, taken one by one: the last one may end a little later than the others.
#include <math.h>
#include <stdio.h>

enum { kItems = 4000, kRounds = 3 };

static double g_results[kItems];

int main(void) {
    for (int round = 0; round < kRounds; round++) {
#pragma omp parallel for schedule(dynamic)
        for (int item = 0; item < kItems; item++) {
            double value = item;
            for (int step = 0; step < (item * 7919) % 40000 + 100; step++)
                value = sqrt(value + step);
            g_results[item] += value;
        }
    }
    double all = 0;
    for (int item = 0; item < kItems; item++)
        all += g_results[item];
    printf("%.6e\n", all);
    return 0;
}
