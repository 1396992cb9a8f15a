// Innocent: a file is written and read back in large blocks, through the page cache.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBlock = 1 << 20, kBlocks = 64, kRounds = 12 };
static unsigned char g_block[kBlock];

int main(void) {
    char name[] = "blocks-XXXXXX";
    const int file = mkstemp(name);
    uint64_t sum = 0;
    for (int round = 0; round < kRounds; round++) {
        for (int block = 0; block < kBlocks; block++) {
            memset(g_block, round + block, sizeof g_block);
            if (pwrite(file, g_block, sizeof g_block, (off_t)block * kBlock) != kBlock)
                return 1;
        }
        for (int block = 0; block < kBlocks; block++) {
            if (pread(file, g_block, sizeof g_block, (off_t)block * kBlock) != kBlock)
                return 1;
            for (int i = 0; i < kBlock; i++)
                sum = sum * 31 + g_block[i];
        }
    }
    unlink(name);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
