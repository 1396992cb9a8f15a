/* Sums the columns of a matrix. Planted: its rows are 4096 numbers apart, so that a column falls into few sets of the
   cache. Cured: rows are one cache line longer. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 512, COLUMNS = 4096, ROUNDS = 1500 };
#ifdef CURED
enum { PITCH = COLUMNS + 8 };
#else
enum { PITCH = COLUMNS };
#endif

int main(void) {
    double* matrix = malloc((size_t)ROWS * PITCH * sizeof(double));
    for (size_t i = 0; i < (size_t)ROWS * PITCH; i++)
        matrix[i] = (double)(i % 13);
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int column = 0; column < COLUMNS / 4; column++) {
            double total = 0;
            for (int row = 0; row < ROWS; row++)
                total += matrix[(size_t)row * PITCH + (size_t)column]; /* planted: power-of-two-stride */
            sum += total * round;
        }
    printf("%g\n", sum);
    free(matrix);
    return 0;
}
