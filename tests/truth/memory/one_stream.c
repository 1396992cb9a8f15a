/* One thread copies and scales a large array, as fast as it comes: there is nothing to share out better. */
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 8000000, ROUNDS = 200 };

int main(void) {
    double *from = malloc(NUMBERS * sizeof(double)), *to = malloc(NUMBERS * sizeof(double));
    for (int i = 0; i < NUMBERS; i++)
        from[i] = i % 5;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < NUMBERS; i++)
            to[i] = from[i] * 0.5 + round;
    printf("%g\n", to[NUMBERS / 2]);
    free(from);
    free(to);
    return 0;
}
