// align_records COUNT ROUNDS LOCKS: sums a member of packed records (its place is off its boundary in 7 of 8 of them),
// the same member of ordinary ones beside them, and adds LOCKS times to a counter that lies across a cache line. Blocks
// begin at pages, so that every crossing can be worked out.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct __attribute__((packed)) record {
    uint8_t kind;
    double weight;
    uint32_t id;
};

struct plain {
    double weight;
    uint32_t id;
    uint8_t kind;
};

struct __attribute__((packed)) shared {
    uint8_t name[60];
    uint64_t counter;
};

static __attribute__((noinline)) double sum_packed(const struct record* records, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += records[i].weight; // culprit: weight
    return sum;
}

static __attribute__((noinline)) double sum_plain(const struct plain* records, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += records[i].weight; // decoy: weight
    return sum;
}

static __attribute__((noinline)) void count_up(struct shared* shared, long locks) {
    uint64_t* counter = (uint64_t*)(void*)((char*)shared + 60);
    for (long i = 0; i < locks; i++)
        __atomic_fetch_add(counter, 1, __ATOMIC_SEQ_CST); // culprit: counter
}

static void* pages(size_t bytes) {
    void* block = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!block)
        exit(2);
    return block;
}

int main(int argc, char** argv) {
    if (argc < 4)
        return 2;
    const size_t count = strtoul(argv[1], NULL, 10);
    const long rounds = strtol(argv[2], NULL, 10), locks = strtol(argv[3], NULL, 10);
    struct record* packed = pages(count * sizeof *packed);
    struct plain* plain = pages(count * sizeof *plain);
    struct shared* shared = pages(sizeof *shared);
    for (size_t i = 0; i < count; i++) {
        const double weight = (double)(i % 1000);
        __builtin_memset(&packed[i], 0, sizeof packed[i]); // culprit: clear
        __builtin_memset(&plain[i], 0, sizeof plain[i]);
        __builtin_memcpy((char*)&packed[i] + 1, &weight, sizeof weight); // culprit: fill
        plain[i].weight = weight;
    }
    __builtin_memset(shared, 0, sizeof *shared);
    double sum = 0;
    for (long round = 0; round < rounds; round++) {
        sum += sum_packed(packed, count) - sum_plain(plain, count) + 1;
        __asm__ volatile("" ::: "memory"); // or one round does for all
    }
    count_up(shared, locks);
    uint64_t counted = 0;
    __builtin_memcpy(&counted, shared->name + 60, sizeof counted); // culprit: read
    printf("%.0f %lu\n", sum, (unsigned long)counted);
    free(packed);
    free(plain);
    free(shared);
    return 0;
}
