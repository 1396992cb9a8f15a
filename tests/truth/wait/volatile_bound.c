// Sums whose loops load a volatile bound in each round: they look like a wait for a variable, but compute.
#include <math.h>
#include <stdio.h>

enum { kSums = 400 };

static volatile int g_bound = 1000000;

__attribute__((noinline)) static double sum_up(double from) {
    double sum = from;
    for (int at = 0; at < g_bound; at++)
        sum += 1.0 / (1.0 + at);
    return sum;
}

__attribute__((noinline)) static unsigned mix(unsigned from) {
    unsigned value = from;
    for (int at = 0; at < g_bound; at++)
        value = value * 1664525u + 1013904223u;
    return value;
}

int main(void) {
    double sum = 0;
    unsigned value = 1;
    for (int round = 0; round < kSums; round++) {
        sum = floor(sum_up(sum));
        value = mix(value);
    }
    printf("%.0f %u\n", sum, value);
    return 0;
}
