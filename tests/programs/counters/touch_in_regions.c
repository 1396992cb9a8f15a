// Touches new pages in regions of the public API: tenths of them, as the comments show. A helper enters no region itself.
//
// usage: touch_in_regions MEBIBYTES   (of a tenth)
#define _GNU_SOURCE
#include <plumb/plumb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kPage = 4096 };
static size_t tenth_bytes;

static void touch(int tenths) {
    for (int i = 0; i < tenths; i++) {
        char *block = mmap(NULL, tenth_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            exit(2);
        madvise(block, tenth_bytes, MADV_NOHUGEPAGE); // a fault for each page
        for (size_t at = 0; at < tenth_bytes; at += kPage)
            ((volatile char *)block)[at] = 1;
        munmap(block, tenth_bytes);
    }
}

static void *help(void *unused) {
    touch(2);
    return unused;
}

static void *work_alone(void *unused) {
    plumb_region_begin("own");
    touch(2); // own
    plumb_region_end("own");
    return unused;
}

int main(int argc, char **argv) {
    tenth_bytes = (size_t)atol(argc > 1 ? argv[1] : "64") << 20;
    touch(1); // in no region
    plumb_region_begin("fill");
    touch(2);
    plumb_region_end("fill");
    plumb_region_begin("sweep"); // 3, with that of tile
    touch(1);
    plumb_region_begin("tile");
    touch(1);
    plumb_region_end("tile");
    plumb_region_begin("sweep"); // once more inside itself
    touch(1);
    plumb_region_end("sweep");
    plumb_region_end("sweep");
    pthread_t helper, other;
    plumb_region_begin("team"); // 2, by the helper
    if (pthread_create(&helper, NULL, help, NULL) != 0 || pthread_create(&other, NULL, work_alone, NULL) != 0)
        return 2;
    pthread_join(helper, NULL);
    pthread_join(other, NULL);
    plumb_region_end("team");
    printf("%zu\n", tenth_bytes);
    return 0;
}
