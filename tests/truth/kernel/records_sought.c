/* Adds up fields of the records of a file. Planted: one pread for each record. Cured: one for 4096 of them. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct record { uint64_t key, amount; };
enum { RECORDS = 400000, PASSES = 8 };
#ifdef CURED
enum { TOGETHER = 4096 };
#else
enum { TOGETHER = 1 };
#endif

int main(void) {
    const int file = open("ledger", O_RDWR | O_CREAT | O_TRUNC, 0600);
    FILE* writer = fdopen(dup(file), "w");
    for (uint64_t i = 0; i < RECORDS; i++) {
        const struct record record = {i, i * 7 % 1000};
        fwrite(&record, sizeof(record), 1, writer);
    }
    fclose(writer);
    static struct record some[TOGETHER];
    double sum = 0;
    for (int pass = 0; pass < PASSES; pass++)
        for (off_t first = 0; first < RECORDS; first += TOGETHER) {
            const ssize_t bytes = pread(file, some, sizeof(some), first * (off_t)sizeof(some[0])); /* planted: kernel-time */
            for (size_t i = 0; i < (size_t)bytes / sizeof(some[0]); i++)
                for (int round = 0; round < 60; round++)
                    sum = sum * 0.9999 + (double)some[i].amount;
        }
    printf("%g\n", sum);
    return close(file);
}
