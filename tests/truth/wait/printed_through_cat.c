// Innocent of slow stages: a program computes, and what it prints goes through `cat`, which has little to do.
#include <math.h>
#include <stdio.h>

enum { kLines = 4000, kSteps = 90000 };

__attribute__((noinline)) static double compute(int number) {
    double value = number;
    for (int step = 0; step < kSteps; step++)
        value = value * 0.999 + sqrt(value + step);
    return value;
}

int main(void) {
    for (int number = 0; number < kLines; number++) {
        printf("%d %.6f\n", number, compute(number));
        fflush(stdout);
    }
    return 0;
}
