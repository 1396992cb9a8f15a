// usage: align_rewritten_code N. Machine code in a page of its own: a load of 4 bytes, N times, then one of 8 bytes in
// its place, 2 N times. The address is the same, the instruction is not.
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef uint64_t (*Load)(const void*);

int main(int count, char** arguments) {
    const long n = count > 1 ? atol(arguments[1]) : 10;
    static const unsigned char load_4[] = {0x8b, 0x07, 0x90, 0xc3}; // mov (%rdi), %eax; nop; ret
    static const unsigned char load_8[] = {0x48, 0x8b, 0x07, 0xc3}; // mov (%rdi), %rax; ret
    static _Alignas(64) char area[64];
    unsigned char* code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED)
        return 1;
    Load load;
    memcpy(&load, &code, sizeof load);
    memset(area, 1, sizeof area);
    uint64_t sum = 0;
    memcpy(code, load_4, sizeof load_4);
    for (long i = 0; i < n; ++i)
        sum += load(area + 1);
    memcpy(code, load_8, sizeof load_8);
    for (long i = 0; i < 2 * n; ++i)
        sum += load(area + 1);
    printf("%llx\n", (unsigned long long)sum);
    return 0;
}
