/* Transforms blocks of numbers with the help of a scratch buffer. Planted: each block maps a new one and unmaps it, and
   pays for its pages again. Cured: one buffer for all blocks. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { NUMBERS = 65536, BLOCKS = 4000 };

static double* scratch(void) {
    return mmap(NULL, NUMBERS * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static double transform(double* buffer, int block) {
    for (int i = 0; i < NUMBERS; i++)
        buffer[i] = (double)((i * 7 + block) % 13); /* planted: kernel-time */
    double sum = 0;
    for (int i = 1; i < NUMBERS; i++)
        sum += buffer[i] * buffer[i - 1];
    return sum;
}

int main(void) {
    double sum = 0;
#ifdef CURED
    double* buffer = scratch();
#endif
    for (int block = 0; block < BLOCKS; block++) {
#ifndef CURED
        double* buffer = scratch();
#endif
        sum += transform(buffer, block);
#ifndef CURED
        munmap(buffer, NUMBERS * sizeof(double));
#endif
    }
    printf("%g\n", sum);
    return 0;
}
