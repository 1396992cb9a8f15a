// Looks up records all over a table that is mapped from a file, all of which is in the page cache.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kBytes = 32 << 20, kPiece = 1 << 20, kLookups = 40000, kRounds = 60000 };

int main(void) {
    char name[] = "table-XXXXXX";
    const int file = mkstemp(name);
    char *piece = malloc(kPiece);
    if (file < 0 || !piece)
        return 1;
    unlink(name);
    for (int at = 0; at < kBytes; at += kPiece) {
        memset(piece, at >> 20, kPiece);
        if (write(file, piece, kPiece) != kPiece)
            return 1;
    }
    free(piece);
    const unsigned char *table = mmap(NULL, kBytes, PROT_READ, MAP_SHARED, file, 0);
    if (table == MAP_FAILED)
        return 1;
    uint64_t sum = 0, key = 1;
    for (int lookup = 0; lookup < kLookups; lookup++) {
        key = key * 6364136223846793005u + 1442695040888963407u;
        sum += table[(key >> 20) % kBytes];
        for (int round = 0; round < kRounds; round++)
            sum = sum * 31 + (sum >> 7);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
