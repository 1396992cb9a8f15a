/* Built without unwind tables and without frame pointers: recursion, frames of several sizes, calls through pointers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double (*Work)(const double* values, int count, int depth);

static double sum(const double* values, int count, int depth) {
    double result = 0;
    for (int i = 0; i < count; ++i)
        result += values[i] * (double)depth;
    return result;
}

static double halves(const double* values, int count, int depth);
static double reversed(const double* values, int count, int depth);

static Work choose(int depth) {
    static const Work all[] = {halves, reversed, sum};
    return depth > 6 ? sum : all[depth % 3];
}

static double halves(const double* values, int count, int depth) {
    const int half = count / 2;
    if (half < 8)
        return sum(values, count, depth);
    return choose(depth + 1)(values, half, depth + 1) + choose(depth + 2)(values + half, count - half, depth + 1);
}

static double reversed(const double* values, int count, int depth) {
    double copy[count]; /* of variable size: addressed by a frame pointer after all */
    for (int i = 0; i < count; ++i)
        copy[i] = values[count - 1 - i];
    return choose(depth + 1)(copy, count, depth + 1) - copy[count / 2];
}

static int compare(const void* a, const void* b) {
    const double left = *(const double*)a, right = *(const double*)b;
    return left < right ? -1 : left > right;
}

int main(void) {
    enum { kCount = 4096 };
    static double values[kCount];
    double total = 0;
    for (int round = 0; round < 1000000; ++round) {
        for (int i = 0; i < kCount; ++i)
            values[i] = (double)((i * 7919 + round) % kCount);
        total += halves(values, kCount, 0) + reversed(values, kCount, 1);
        qsort(values, kCount / 4, sizeof values[0], compare); /* calls back from the C library, which has tables */
    }
    printf("%g\n", total);
    return 0;
}
