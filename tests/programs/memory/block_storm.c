/* block_storm BLOCKS: allocates and frees so many blocks of 1 MiB and more, one after another, as fast as it can, while one
   that lives for all of the time is read now and then. Prints the sum of what it read, and blocks a second on stderr. */
#include "memory_nodes.h"

#include <malloc.h>

enum { kMebibyte = 1 << 20, kBetween = 1000 };

int main(int count, char** arguments) {
    const long blocks = count > 1 ? atol(arguments[1]) : 0;
    long* const lasting = malloc(4 * kMebibyte); /* lasting */
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* from the heap: no system call for each of them */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 16 * kMebibyte);
    for (size_t i = 0; i < 4 * kMebibyte / sizeof *lasting; ++i)
        lasting[i] = (long)i;
    long sum = 0;
    const double begin = seconds_of(CLOCK_MONOTONIC);
    for (long i = 0; i < blocks; ++i) {
        char* const block = malloc(kMebibyte + (size_t)(i % 7) * 4096); /* storm */
        if (!block)
            give_up("malloc");
        *(volatile char*)block = (char)i;
        free(block);
        if (i % kBetween == 0)
            sum += lasting[(size_t)i % (4 * kMebibyte / sizeof *lasting)];
    }
    fprintf(stderr, "%.0f blocks a second\n", (double)blocks / (seconds_of(CLOCK_MONOTONIC) - begin));
    printf("%ld\n", sum);
    free(lasting);
    return 0;
}
