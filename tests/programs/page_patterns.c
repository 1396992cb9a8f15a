// page_patterns PATTERN MEBIBYTES CPU_MILLISECONDS: one way of going through so much memory for that much CPU time, the
// filling of the memory not counted. Prints the nanoseconds of CPU time of one access. Patterns: heap, static (independent
// accesses to random places of either), lookup (the same through a function that is called for each), update (a histogram),
// sweep (through all of it in order), ordered (as heap, but the places come in order), blocks (as heap, but in blocks of
// 2 KiB, each in order). Accesses that wait for one another: examples/small-pages.
#define _GNU_SOURCE
#include "arithmetic.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL __attribute__((noinline))
enum { kIndexes = 1 << 18, kBlock = 256, kStaticBytes = 512 << 20 };

static double field[kStaticBytes / sizeof(double)] __attribute__((aligned(2 << 20)));
static uint32_t indexes[kIndexes];

KERNEL double gather(const double* table, uint32_t moved) {
    double sum = 0;
    for (size_t i = 0; i < kIndexes; ++i)
        sum += table[indexes[i] ^ moved]; // gather heap
    return sum;
}

KERNEL double gather_field(uint32_t moved) {
    double sum = 0;
    for (size_t i = 0; i < kIndexes; ++i)
        sum += field[indexes[i] ^ moved]; // gather static
    return sum;
}

KERNEL void update(uint64_t* counts, uint32_t moved) {
    for (size_t i = 0; i < kIndexes; ++i)
        counts[indexes[i] ^ moved]++; // update
}

KERNEL double look_up(const double* table, size_t place) {
    return table[place]; // lookup
}

KERNEL double sweep(const double* table, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += table[i]; // sweep
    return sum;
}

int main(int count, char** arguments) {
    if (count < 4)
        return 2;
    const char* pattern = arguments[1];
    const size_t bytes = strtoul(arguments[2], NULL, 10) << 20, doubles = bytes / sizeof(double);
    const int is_static = !strcmp(pattern, "static");
    double* const memory = is_static ? field : malloc(bytes); // allocated
    if (!memory || (doubles & (doubles - 1)) || (is_static && bytes > kStaticBytes))
        return 2;
    memset(memory, 0, bytes);
    const int blocks = !strcmp(pattern, "blocks");
    for (size_t i = 0; i < kIndexes; ++i)
        indexes[i] = (uint32_t)(!strcmp(pattern, "ordered") ? i
                                : !blocks                   ? random_number() % doubles
                                : i % kBlock == 0           ? random_number() % (doubles / kBlock) * kBlock
                                                            : indexes[i - 1] + 1);

    volatile double sink = 0;
    uint64_t accesses = 0;
    const double begin = cpu_ms();
    double now = begin;
    for (uint32_t turn = 0; now < begin + strtod(arguments[3], NULL); ++turn, now = cpu_ms()) {
        // Each turn goes to other places: a turn's alone would stay in the caches. In order, the next ones.
        uint32_t moved = (uint32_t)(random_number() % doubles);
        if (!strcmp(pattern, "ordered"))
            moved = (uint32_t)(turn * (size_t)kIndexes % doubles);
        if (blocks)
            moved = moved / kBlock * kBlock;
        accesses += kIndexes;
        if (!strcmp(pattern, "heap") || !strcmp(pattern, "ordered") || blocks)
            sink = sink + gather(memory, moved);
        else if (is_static)
            sink = sink + gather_field(moved);
        else if (!strcmp(pattern, "update"))
            update((uint64_t*)memory, moved);
        else if (!strcmp(pattern, "lookup"))
            for (size_t i = 0; i < kIndexes; ++i)
                sink = sink + look_up(memory, indexes[i] ^ moved);
        else if (!strcmp(pattern, "sweep")) {
            sink = sink + sweep(memory, doubles);
            accesses += doubles - kIndexes;
        } else
            return 2;
    }
    printf("%.3f\n", (now - begin) * 1e6 / (double)accesses);
    return 0;
}
