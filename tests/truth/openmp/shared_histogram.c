// A histogram of a pseudo-random series. Planted: each value is put in under a critical. Cured: each thread has bins of its own,
// merged once.
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#ifndef VALUES
#define VALUES 25000000
#endif
enum { kValues = VALUES, kBins = 64 };

static long g_bins[kBins];

static unsigned bin_of(uint64_t value) {
    value *= 0x9e3779b97f4a7c15u;
    return (unsigned)(sqrt((double)(value >> 11)) * 0x1p-26 * 0.70 * kBins) % kBins;
}

int main(void) {
#pragma omp parallel
    {
        long own[kBins] = {0};
#pragma omp for
        for (int64_t value = 1; value <= kValues; value++) {
            const unsigned bin = bin_of((uint64_t)value);
#ifdef CURED
            own[bin]++;
#else
#pragma omp critical // planted: omp-critical
            g_bins[bin]++;
#endif
        }
#pragma omp critical(merge)
        for (int bin = 0; bin < kBins; bin++)
            g_bins[bin] += own[bin];
    }
    long check = 0;
    for (int bin = 0; bin < kBins; bin++)
        check += g_bins[bin] * (bin + 1);
    printf("%ld\n", check);
    return 0;
}
