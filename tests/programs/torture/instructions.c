// String instructions both ways, locked ones (across a line a few times only), and a stack that is not aligned.
#include "unaligned.h"
#include <stdio.h>
#include <string.h>

static char from[512], to[512];

static uint64_t hash(const char* bytes, int n) {
    uint64_t sum = 14695981039346656037u;
    for (int i = 0; i < n; ++i)
        sum = (sum ^ (unsigned char)bytes[i]) * 1099511628211u;
    return sum;
}

static void strings(int round) {
    const char* s = from + 1 + round % 5;
    char* d = to + 3 + round % 7;
    unsigned long n = 20;
    __asm__ volatile("rep movsq" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
    n = 9;
    d += 1;
    __asm__ volatile("rep stosl" : "+D"(d), "+c"(n) : "a"(0x01020304 + round) : "memory");
    s = from + 300 + 1, d = to + 400 + 2, n = 10;
    __asm__ volatile("std; rep movsw; cld" : "+S"(s), "+D"(d), "+c"(n) : : "memory");
    const char *a = from + 1, *b = to + 3;
    n = 15;
    __asm__ volatile("repe cmpsl" : "+S"(a), "+D"(b), "+c"(n) : : "memory", "cc");
    to[0] = (char)n;
    n = 30;
    b = to + 1;
    __asm__ volatile("repne scasl" : "+D"(b), "+c"(n) : "a"(0x7f7f7f7f) : "memory", "cc");
    to[1] = (char)n;
}

static void locked(int round) {
    char* line = (char*)(((uintptr_t)from + 63) & ~(uintptr_t)63) + 64;
    __atomic_fetch_add((uint64_t*)(line + 1 + round % 8), 3, __ATOMIC_SEQ_CST);
    uint32_t old = __atomic_exchange_n((uint32_t*)(line + 33), (uint32_t)round, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n((uint32_t*)(line + 33), &old, 7, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (round % 50 == 0)
        __atomic_fetch_add((uint32_t*)(line + 62), 1, __ATOMIC_SEQ_CST);
}

static uint64_t misaligned_stack(uint64_t x) {
    uint64_t result;
    __asm__ volatile("mov %%rsp, %%rbx\n\t"
                     "sub $131, %%rsp\n\t"
                     "push %1\n\t"
                     "pushfq\n\t"
                     "call 1f\n\t"
                     "jmp 2f\n"
                     "1: push %%rbp\n\t"
                     "mov %%rsp, %%rbp\n\t"
                     "mov 24(%%rbp), %0\n\t"
                     "leave\n\t"
                     "ret\n"
                     "2: popfq\n\t"
                     "pop %%rcx\n\t"
                     "add %%rcx, %0\n\t"
                     "mov %%rbx, %%rsp"
                     : "=&r"(result)
                     : "r"(x)
                     : "rbx", "rcx", "memory", "cc");
    return result;
}

int main(void) {
    for (int i = 0; i < 512; ++i)
        from[i] = (char)(i * 37 + 11);
    uint64_t sum = 0;
    for (int round = 0; round < 200; ++round) {
        strings(round);
        locked(round);
        sum = sum * 31 + misaligned_stack((uint64_t)round);
    }
    printf("%llx %llx %llx\n", (unsigned long long)hash(from, 512), (unsigned long long)hash(to, 512),
           (unsigned long long)sum);
    return 0;
}
