// Looks up records all over a table that is mapped from a file and not in the page cache. Planted: each look-up waits for the disk
// to read one page. Cured: the table is read in large pieces before it is used.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kBytes = 160 << 20, kPiece = 1 << 20, kLookups = 25000, kRounds = 30000 };

// A file of this size that is not in the page cache.
static int cold_table(void) {
    char name[] = "table-XXXXXX";
    const int file = mkstemp(name);
    char *piece = malloc(kPiece);
    if (file < 0 || !piece)
        exit(1);
    unlink(name);
    for (int at = 0; at < kBytes; at += kPiece) {
        memset(piece, at >> 20, kPiece);
        if (write(file, piece, kPiece) != kPiece)
            exit(1);
    }
    free(piece);
    if (fsync(file) != 0 || posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) != 0)
        exit(1);
    return file;
}

__attribute__((noinline)) static uint64_t look_up(const unsigned char *table, uint64_t key) {
    return table[key % kBytes]; // planted: page-in
}

int main(void) {
    const int file = cold_table();
    unsigned char *table = mmap(NULL, kBytes, PROT_READ, MAP_SHARED, file, 0);
    if (table == MAP_FAILED)
        return 1;
    madvise(table, kBytes, MADV_RANDOM);
#ifdef CURED
    char *piece = malloc(kPiece);
    for (int at = 0; at < kBytes; at += kPiece)
        if (!piece || pread(file, piece, kPiece, at) != kPiece)
            return 1;
    free(piece);
#endif
    uint64_t sum = 0, key = 1;
    for (int lookup = 0; lookup < kLookups; lookup++) {
        key = key * 6364136223846793005u + 1442695040888963407u;
        sum += look_up(table, key >> 20);
        for (int round = 0; round < kRounds; round++)
            sum = sum * 31 + (sum >> 7);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
