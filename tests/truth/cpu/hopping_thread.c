/* Updates a table that fits into a CPU's own cache. Planted: the thread asks for another CPU again and again. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { WORDS = 90000, ROUNDS = 6000 };
static unsigned long g_table[WORDS];

int main(void) {
    unsigned long sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
#ifndef CURED
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(round % 2, &cpus);
        sched_setaffinity(0, sizeof(cpus), &cpus);
#endif
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < WORDS; i++)
                sum += g_table[(i * 7919) % WORDS] += i ^ (sum >> 7);
    }
    printf("%lu\n", sum);
    return 0;
}
