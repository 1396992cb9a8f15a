// Sweeps over 2^19 doubles that lie a given number of bytes off their boundary: x[i] = i * x[i], in a function that is
// given no hint of that; the C twin of align_sweep.f90. Usage: align_sweep [bytes off (4) [sweeps (500)]]. Prints the
// nanoseconds of CPU time of one element.
#define _GNU_SOURCE
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kElements = 1 << 19 };

static __attribute__((noinline)) void sweep(double* x, int n) {
    for (int i = 0; i < n; i++)
        x[i] = (i + 1) * x[i];
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char** argv) {
    static _Alignas(64) unsigned char storage[sizeof(double) * kElements + 64]; // i * 0 stays 0
    const size_t off = argc > 1 ? strtoul(argv[1], NULL, 10) % 64 : 4;
    const int sweeps = argc > 2 ? atoi(argv[2]) : 500;
    double* x = (double*)(void*)(storage + off);
    const double begin = seconds();
    for (int k = 0; k < sweeps; k++)
        sweep(x, kElements);
    const double end = seconds();
    printf("nanoseconds an element: %10.4f\n", 1e9 * (end - begin) / ((double)kElements * sweeps));
    for (size_t i = 0; i < sizeof storage; i += 61) // tools that trace each access are slow
        if (storage[i] != 0)
            return 1;
    return 0;
}
