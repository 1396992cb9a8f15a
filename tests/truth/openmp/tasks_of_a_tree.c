// A recursive sum over an uneven tree: one thread makes the first tasks, all make more and carry them out. Planted: a task for
// each branch of the ten upper levels, most of them less than a microsecond. Cured: of the four upper levels.
#include <math.h>
#include <stdio.h>

enum { kDepth = 22, kRounds = 40 };

#ifdef CURED
enum { kTaskDepth = 4 };
#else
enum { kTaskDepth = 10 };
#endif

static double sum_of(int depth, double seed) {
    if (depth == 0)
        return floor(sqrt(seed + 1) * 16);
    double left = 0, right = 0;
    if (depth > kDepth - kTaskDepth) {
#pragma omp task shared(left)
        left = sum_of(depth - 1, seed * 0.5);
#pragma omp task shared(right) // planted: omp-granularity
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
