// An allocator that a signal handler may leave in the middle: one atomic addition a block, nothing is used again.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

static _Atomic(char*) next;
static const size_t arena_bytes = (size_t)4 << 30;

void* malloc(size_t bytes) {
    char* first = NULL;
    if (!atomic_load(&next)) {
        char* const arena = mmap(NULL, arena_bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED)
            return NULL;
        atomic_compare_exchange_strong(&next, &first, arena);
    }
    size_t* const block = (size_t*)atomic_fetch_add(&next, (bytes + 31) & ~(size_t)15);
    block[0] = bytes;
    return block + 2;
}

void free(void* block) { (void)block; }

void* calloc(size_t count, size_t size) { return malloc(count * size); } // fresh pages are zero

void* realloc(void* block, size_t bytes) {
    void* const larger = malloc(bytes);
    if (block && larger) {
        const size_t former = ((size_t*)block)[-2];
        memcpy(larger, block, former < bytes ? former : bytes);
    }
    return larger;
}
