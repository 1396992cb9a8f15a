// Stores to packed records on the stack: from one position of the stack in four each store crosses a cache line (and one in 64 a page),
// from another the half of one, which some processors split as well. Where the stack is, the kernel draws anew for each run, or it
// follows from the size of the environment.
//
// usage: stack_records [MILLION_ROUNDS]
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRecords = 64, kRecordBytes = 64 };

struct __attribute__((packed)) record {
    char before[12];
    int64_t count;
    char rest[kRecordBytes - 20];
};

__attribute__((noinline)) static void set_all(struct record *records, long rounds) {
    for (long i = 0; i < rounds; i++)
        for (int j = 0; j < kRecords; j++)
            *(volatile int64_t *)&records[j].count = i;
}

int main(int argc, char **argv) {
    struct record *records = alloca(sizeof(struct record[kRecords])); // at a multiple of 16
    set_all(records, 1000000 * (argc > 1 ? atol(argv[1]) : 10));
    printf("%lld\n", (long long)records[0].count);
    return 0;
}
