// usage: align_fixed N. A program at a fixed address, below 2 GiB, that makes N unaligned loads of 7 bytes of code, so
// that a jump put in their place may go anywhere near. Prints what was computed.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static _Alignas(64) char numbers[2048];

__attribute__((noinline, noclone)) uint64_t far_load(const char* at) {
    return *(const volatile uint64_t*)(at + 1001);
}

int main(int arguments, char** argument) {
    const long count = arguments > 1 ? atol(argument[1]) : 1000;
    uint64_t sum = 0;
    for (long i = 0; i < count; ++i) {
        numbers[1001] = (char)i;
        sum += far_load(numbers);
    }
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
