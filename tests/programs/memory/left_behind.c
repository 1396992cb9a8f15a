/* left_behind SECONDS CPU CPU: a thread fills an array on the first CPU and reads it; after a fifth of the time it is
   moved to the second CPU, as a scheduler that balances moves it, and reads on. The array stays where it is. */
#include "place.h"

#include <pthread.h>

enum { kCount = 4 << 20 }; /* 32 MiB */

static double run_seconds;
static int cpus[2];
volatile double sink;

__attribute__((noinline)) static void fill(double* field) {
    for (size_t i = 0; i < kCount; ++i)
        field[i] = 1; /* first touch */
}

__attribute__((noinline)) static void read_all(const double* field) {
    double sum = 0;
    for (size_t i = 0; i < kCount; ++i)
        sum += field[i]; /* read */
    sink = sum;
}

static void* work(void* unused) {
    pin_to(cpus[0]);
    double* field = malloc(kCount * sizeof *field); /* allocation */
    fill(field);
    const double begin = seconds_of(CLOCK_MONOTONIC);
    while (seconds_of(CLOCK_MONOTONIC) < begin + run_seconds / 5)
        read_all(field);
    pin_to(cpus[1]);
    while (seconds_of(CLOCK_MONOTONIC) < begin + run_seconds)
        read_all(field);
    free(field);
    return unused;
}

int main(int count, char** arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: left_behind SECONDS CPU CPU\n");
        return 2;
    }
    run_seconds = atof(arguments[1]);
    cpus[0] = atoi(arguments[2]);
    cpus[1] = atoi(arguments[3]);
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
