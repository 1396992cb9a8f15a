// The same number of steps from place to place of a large block in each run: much faster on huge pages, for which GLIBC_TUNABLES asks.
//
// usage: page_work MEBIBYTES MILLION_STEPS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    const size_t count = ((size_t)atol(argv[1]) << 20) / sizeof(uint64_t);
    uint64_t *block = malloc(count * sizeof *block);
    if (!block)
        return 2;
    memset(block, 1, count * sizeof *block);
    uint64_t value = 1;
    for (long step = 1000000 * atol(argv[2]); step > 0; step--)
        value = value * 6364136223846793005u + block[value % count] + 1442695040888963407u;
    printf("%d\n", value != 0);
    free(block);
    return 0;
}
