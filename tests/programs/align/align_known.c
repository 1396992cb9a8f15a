// usage: align_known N. Each function makes one unaligned access a call (named by its kind) and is called N times with a
// different multiple; the last ones make none. Prints what it computed.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE __attribute__((noinline, noclone))

struct __attribute__((packed)) Record {
    char tag;
    int32_t number;
    double value;
};
static struct Record record; // its members lie at odd addresses wherever it lies
static _Alignas(4096) char area[3 * 4096];
static __thread struct Record local __attribute__((aligned(64))) = {0, 5, 0};

ONE int32_t load_4(const volatile int32_t* at) { return *at; }
ONE void store_8(volatile int64_t* at, int64_t value) { *at = value; }
ONE void add_to_2(volatile int16_t* at) { *at = (int16_t)(*at + 1); }
ONE void add_locked(volatile int32_t* at) { __asm__ volatile("lock incl %0" : "+m"(*at) : : "memory", "cc"); }
ONE void exchange(volatile int64_t* at, int64_t value) { __asm__ volatile("xchgq %0, %1" : "+r"(value), "+m"(*at)); }
ONE double load_double(const volatile double* at) { return *at; }
ONE void static_member(int32_t value) { __asm__ volatile("movl %1, %0" : "=m"(record.number) : "r"(value)); }
ONE int32_t thread_member(void) {
    int32_t value;
    __asm__ volatile("movl %%fs:(%1), %0" : "=r"(value) : "r"((intptr_t)&local.number - (intptr_t)__builtin_thread_pointer()) : "memory");
    return value;
}
ONE void copy_words(void* to, const void* from, unsigned long words) {
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
}
ONE void copy_backwards(void* to, const void* from, unsigned long words) {
    __asm__ volatile("std\n\trep movsq\n\tcld" : "+D"(to), "+S"(from), "+c"(words) : : "memory", "cc");
}
ONE uint64_t through_stack(uint64_t value) { // push and pop with a stack that is off by four
    __asm__ volatile("movq %%rsp, %%rdx\n\tsubq $260, %%rsp\n\tpushq %0\n\tnotq %0\n\tpopq %0\n\tmovq %%rdx, %%rsp"
                     : "+r"(value) : : "rdx", "memory", "cc");
    return value;
}
ONE uint64_t flags_through_stack(void) { // pushf: neither the trap's flag nor the step's may show
    uint64_t flags;
    __asm__ volatile("movq %%rsp, %%rdx\n\tsubq $260, %%rsp\n\tpushfq\n\tmovl (%%rsp), %k0\n\taddq $8, %%rsp\n\tmovq %%rdx, %%rsp"
                     : "=r"(flags) : : "rdx", "memory", "cc");
    return flags & 0x100;
}
ONE uint64_t keeps_flags(const void* at) { // the arithmetic flags of an access that traps must be those of the program
    uint64_t carry = 0;
    __asm__ volatile("stc\n\tmovl (%1), %%ecx\n\tadcq $0, %0" : "+r"(carry) : "r"(at) : "rcx", "cc", "memory");
    return carry;
}
ONE uint64_t makes_flags(void* at) { // and those that it makes itself as well
    uint64_t carry = 0;
    __asm__ volatile("addl $-1, (%1)\n\tadcq $0, %0" : "+r"(carry) : "r"(at) : "cc", "memory");
    return carry;
}
ONE int32_t aligned_4(const volatile int32_t* at) { return *at; }
ONE int64_t within_bytes(const volatile char* at) { return *at; }

int main(int count, char** arguments) {
    const long n = count > 1 ? atol(arguments[1]) : 10;
    memset(area, 3, sizeof area);
    uint64_t sum = 0;
    for (long i = 0; i < n; ++i) {
        sum += (uint64_t)load_4((int32_t*)(area + 1 + i % 128 * 4));
        for (int k = 0; k < 2; ++k)
            store_8((int64_t*)(area + 4096 - 4), i); // over a page
        for (int k = 0; k < 3; ++k)
            add_to_2((int16_t*)(area + 63)); // over a line
        add_locked((int32_t*)(area + 129));  // within a line: no split lock
        exchange((int64_t*)(area + 257), i);
        sum += (uint64_t)load_double((double*)(area + 516));
        static_member((int32_t)i);
        sum += (uint64_t)thread_member();
        copy_words(area + 1025, area + 2048, 16);
        copy_backwards(area + 1025 + 120, area + 3000 + 120, 16);
        sum += through_stack((uint64_t)i);
        sum += flags_through_stack();
        sum += keeps_flags(area + 1);
        sum += makes_flags(area + 1537);
        sum += (uint64_t)aligned_4((int32_t*)area);
        sum += (uint64_t)within_bytes(area + 3);
    }
    for (size_t i = 0; i < sizeof area; ++i)
        sum = sum * 31 + (uint64_t)area[i];
    printf("%llu %d\n", (unsigned long long)sum, record.number);
    return 0;
}
