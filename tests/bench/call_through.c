// The least that any interposing tool costs: malloc and free that only call what they stand in front of.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>

extern void* __libc_malloc(size_t bytes);
extern void __libc_free(void* block);
static void* (*real_malloc)(size_t) = __libc_malloc;
static void (*real_free)(void*) = __libc_free;

__attribute__((constructor)) static void find(void) {
    *(void**)&real_malloc = dlsym(RTLD_NEXT, "malloc");
    *(void**)&real_free = dlsym(RTLD_NEXT, "free");
}

void* malloc(size_t bytes) { return real_malloc(bytes); }
void free(void* block) { real_free(block); }
