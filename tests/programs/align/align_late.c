// usage: align_late [SECONDS]. Unaligned loads early_load in the first moment, then 0.1 s without any, then late_load
// for 0.3 s or so long.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static _Alignas(64) char area[64];

__attribute__((noinline)) int32_t early_load(const volatile int32_t* at) { return *at; }
__attribute__((noinline)) int32_t late_load(const volatile int32_t* at) { return *at; }

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char** arguments) {
    const double seconds = count > 1 ? atof(arguments[1]) : 0.3;
    int64_t sum = 0;
    for (int i = 0; i < 10000; ++i)
        sum += early_load((int32_t*)(area + 1));
    const double begin = cpu_seconds();
    while (cpu_seconds() < begin + 0.1)
        ;
    while (cpu_seconds() < begin + 0.1 + seconds)
        for (int i = 0; i < 20000; ++i)
            sum += late_load((int32_t*)(area + 1));
    printf("%lld\n", (long long)sum);
    return 0;
}
