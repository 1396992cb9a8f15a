// Two instructions that are unaligned every time, each long enough for a jump in its place.
#include <stdint.h>

uint64_t run_excluded(char* bytes, int n) {
    uint64_t sum = 0;
    for (int i = 0; i < n; ++i) {
        *(volatile uint32_t*)(bytes + 0x1001) = 0x12345678;
        sum += *(volatile uint64_t*)(bytes + 0x1003);
    }
    return sum;
}
