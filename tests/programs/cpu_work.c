// Work, of which there is PERMILLE of the usual amount where it begins on the last CPU.
//
// usage: cpu_work PERMILLE [MILLION_ROUNDS]
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    long rounds = 1000000 * (argc > 2 ? atol(argv[2]) : 100);
    if (sched_getcpu() == sysconf(_SC_NPROCESSORS_ONLN) - 1)
        rounds = rounds / 1000 * atol(argv[1]);
    uint64_t value = 1;
    for (long i = 0; i < rounds; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    printf("%d\n", value != 0);
    return 0;
}
