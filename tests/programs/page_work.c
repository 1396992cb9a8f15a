// The same number of steps in each run, each to one line of another page of a large block, from which the next one follows: the lines fit
// into a cache, and small pages need more translations than the processor keeps. GLIBC_TUNABLES may ask for huge ones.
//
// usage: page_work MEBIBYTES MILLION_STEPS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPage = 4096, kLine = 64 };

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    size_t pages = 1; // a power of two
    while (2 * pages * kPage <= (size_t)atol(argv[1]) << 20)
        pages *= 2;
    char *block = malloc(pages * kPage);
    if (!block)
        return 2;
    memset(block, 1, pages * kPage);
    uint64_t value = 1;
    for (long step = 1000000 * atol(argv[2]); step > 0; step--) {
        const size_t page = (value >> 33) & (pages - 1);
        const char *line = block + page * kPage + page * kLine % kPage; // not the same set of the cache for all pages
        value = value * 6364136223846793005u + *(const volatile uint64_t *)line + 1442695040888963407u;
    }
    printf("%d\n", value != 0);
    free(block);
    return 0;
}
