// Two threads that touch new pages, nine of ten of them the first one: page faults of a known line and thread.
//
// usage: touch_pages MEBIBYTES   (of the second thread; the first one touches nine times as much)
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { kPage = 4096 };
static size_t part_bytes;

static char *map_new(size_t bytes) {
    char *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED)
        exit(2);
    madvise(block, bytes, MADV_NOHUGEPAGE); // a fault for each page
    return block;
}

static void *touch_few(void *unused) {
    char *block = map_new(part_bytes);
    for (size_t at = 0; at < part_bytes; at += kPage)
        ((volatile char *)block)[at] = 1; // few
    munmap(block, part_bytes);
    return unused;
}

static void *touch_many(void *unused) {
    for (int round = 0; round < 9; round++) {
        char *block = map_new(part_bytes);
        for (size_t at = 0; at < part_bytes; at += kPage)
            ((volatile char *)block)[at] = 1; // many
        munmap(block, part_bytes);
    }
    return unused;
}

int main(int argc, char **argv) {
    part_bytes = (size_t)atol(argc > 1 ? argv[1] : "64") << 20;
    pthread_t few, many;
    if (pthread_create(&few, NULL, touch_few, NULL) != 0 || pthread_create(&many, NULL, touch_many, NULL) != 0)
        return 2;
    pthread_setname_np(few, "few");
    pthread_setname_np(many, "many");
    pthread_join(few, NULL);
    pthread_join(many, NULL);
    printf("%zu\n", part_bytes);
    return 0;
}
