/* Maps a buffer once, and computes in it for long: its pages cost what they must. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>

enum { NUMBERS = 500000, ROUNDS = 1500 };

int main(void) {
    double* numbers = mmap(NULL, NUMBERS * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (numbers == MAP_FAILED)
        return 1;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = i % 100;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 1; i < NUMBERS; i++)
            numbers[i] = numbers[i] * 0.99 + numbers[i - 1] * 0.01;
    printf("%g\n", numbers[NUMBERS - 1]);
    return munmap(numbers, NUMBERS * sizeof(double));
}
