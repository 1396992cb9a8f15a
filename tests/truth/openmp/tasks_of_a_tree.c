// A recursive sum over an uneven tree, one task for each large branch: one thread makes the tasks, all carry them out.
#include <math.h>
#include <stdio.h>

enum { kDepth = 22, kTaskDepth = 10, kRounds = 40 };

static double sum_of(int depth, double seed) {
    if (depth == 0)
        return floor(sqrt(seed + 1) * 16);
    double left = 0, right = 0;
    if (depth > kDepth - kTaskDepth) {
#pragma omp task shared(left)
        left = sum_of(depth - 1, seed * 0.5);
#pragma omp task shared(right)
        right = sum_of(depth - (depth > 2 ? 2 : 1), seed + 3);
#pragma omp taskwait
    } else {
        left = sum_of(depth - 1, seed * 0.5);
        right = sum_of(depth - (depth > 2 ? 2 : 1), seed + 3);
    }
    return left + right;
}

int main(void) {
    double all = 0;
    for (int round = 0; round < kRounds * 100; round++) {
#pragma omp parallel
#pragma omp single
        all += sum_of(kDepth, round);
    }
    printf("%.0f\n", all);
    return 0;
}
