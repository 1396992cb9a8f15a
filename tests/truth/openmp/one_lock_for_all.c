// Counters of many keys. Planted: one OpenMP lock guards all of them, and the new value is computed under it. Cured: computed
// before, and a lock for each of 256 groups.
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>

enum { kUpdates = 5000000, kKeys = 4096, kGroups = 256, kSteps = 60 };

static double g_values[kKeys];
static omp_lock_t g_locks[kGroups];

static double change(uint64_t update) {
    double value = (double)(update & 1023);
    for (int step = 0; step < kSteps; step++)
        value = sqrt(value + step);
    return floor(value * 1024);
}

int main(void) {
    for (int group = 0; group < kGroups; group++)
        omp_init_lock(&g_locks[group]);
#pragma omp parallel for
    for (int64_t update = 0; update < kUpdates; update++) {
        const unsigned key = (unsigned)((uint64_t)update * 2654435761u % kKeys);
#ifdef CURED
        const double more = change((uint64_t)update);
        omp_set_lock(&g_locks[key % kGroups]);
        g_values[key] += more;
        omp_unset_lock(&g_locks[key % kGroups]);
#else
        omp_set_lock(&g_locks[0]); // planted: omp-critical
        g_values[key] += change((uint64_t)update);
        omp_unset_lock(&g_locks[0]);
#endif
    }
    double all = 0;
    for (int key = 0; key < kKeys; key++)
        all += g_values[key];
    printf("%.0f\n", all);
    return 0;
}
