// usage: align_excluded LIBRARY N: N rounds of the library's unaligned accesses, between a few of its own.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char bytes[8192] __attribute__((aligned(4096)));

__attribute__((noinline)) static uint32_t own_load(const char* from) { return *(const volatile uint32_t*)from; }

int main(int count, char** arguments) {
    void* library = count > 2 ? dlopen(arguments[1], RTLD_NOW) : NULL;
    uint64_t (*run)(char*, int) = NULL;
    if (library)
        *(void**)&run = dlsym(library, "run_excluded");
    if (!run)
        return 2;
    uint64_t sum = 0;
    for (int i = 0; i < 10; ++i)
        sum += own_load(bytes + 1) + run(bytes, atoi(arguments[2]) / 10);
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
