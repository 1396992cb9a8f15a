// One of two tasks is long, and cannot be divided: each value needs the one before. The other thread waits in a taskwait, which is
// no cost of making tasks.
#include <math.h>
#include <stdio.h>

static double chain(long steps, double value) {
    for (long step = 0; step < steps; step++)
        value = sqrt(value + (double)step);
    return value;
}

int main(void) {
    double all = 0;
    for (int round = 0; round < 40; round++) {
        double longer = 0, shorter = 0;
#pragma omp parallel
#pragma omp single
        {
#pragma omp task shared(longer)
            longer = chain(4000000, round);
#pragma omp task shared(shorter)
            shorter = chain(3600000, round);
#pragma omp taskwait
        }
        all += longer + shorter;
    }
    printf("%.6f\n", all);
    return 0;
}
