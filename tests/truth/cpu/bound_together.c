/* An OpenMP loop over rows of different weight. Planted: the environment binds both threads to one place. Cured: a place
   for each. */
#include <stdio.h>

enum { ROWS = 4000 };

static double row(int number) {
    double value = number;
    for (int i = 0; i < 100000 + 40 * number; i++)
        value = value * 0.999999 + 1.0 / (i + 1);
    return value;
}

int main(void) {
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : sum)
    for (int number = 0; number < ROWS; number++)
        sum += row(number);
    printf("%g\n", sum);
    return 0;
}
