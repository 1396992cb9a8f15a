/* Transposes a large matrix with rows of a power of two by blocks that fit into the cache. */
#include <stdio.h>
#include <stdlib.h>

enum { SIZE = 2048, BLOCK = 8, ROUNDS = 80 };

int main(void) {
    double* from = malloc(sizeof(double) * SIZE * SIZE);
    double* to = malloc(sizeof(double) * SIZE * SIZE);
    if (!from || !to)
        return 1;
    for (size_t i = 0; i < (size_t)SIZE * SIZE; i++)
        from[i] = (double)(i % 977);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t row = 0; row < SIZE; row += BLOCK)
            for (size_t column = 0; column < SIZE; column += BLOCK)
                for (size_t i = row; i < row + BLOCK; i++)
                    for (size_t j = column; j < column + BLOCK; j++)
                        to[j * SIZE + i] = from[i * SIZE + j] * 1.0001;
        double* const swap = from;
        from = to;
        to = swap;
    }
    printf("%g\n", from[77] + from[SIZE * 5 + 3]);
    free(from);
    free(to);
    return 0;
}
