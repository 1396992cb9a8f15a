/* A matrix whose rows are a power of two apart, walked along its rows: no two of its accesses fight for a place. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 64, COLUMNS = 1024, ROUNDS = 18000 };

int main(void) {
    double* matrix = malloc(ROWS * COLUMNS * sizeof(double));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = i % 11;
    double sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int row = 0; row < ROWS; row++)
            for (int column = 0; column < COLUMNS; column++)
                sum += matrix[row * COLUMNS + column] * round;
    printf("%g\n", sum);
    free(matrix);
    return 0;
}
