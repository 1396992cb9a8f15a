// The same work in each run, on two lines: PERMILLE of the usual amount on the one, the usual amount on the other. Each loop is one
// line: which of its instructions samples fall on differs between processors.
//
// usage: scaled_work PERMILLE [MILLION_ROUNDS]
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static uint64_t scaled(uint64_t value, long rounds) {
    for (long i = 0; i < rounds; i++) value = value * 6364136223846793005u + 1442695040888963407u; // the line that is changed
    return value;
}

__attribute__((noinline)) static uint64_t usual(uint64_t value, long rounds) {
    for (long i = 0; i < rounds; i++) value = (value ^ (value >> 13)) * 0x9e3779b97f4a7c15u; // the line that is not
    return value;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    const long rounds = 1000000 * (argc > 2 ? atol(argv[2]) : 200);
    const uint64_t value = usual(scaled(1, rounds / 1000 * atol(argv[1])), rounds / 2);
    printf("%llu\n", (unsigned long long)value);
    return 0;
}
