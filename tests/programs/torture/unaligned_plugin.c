#include <stdint.h>
#include <stdlib.h>
uint64_t run_unaligned(char* bytes, int n) {
    uint64_t sum = 0;
    for (int i = 0; i < n; ++i) {
        *(volatile uint32_t*)(bytes + 5) += (uint32_t)i;
        sum += *(volatile uint64_t*)(bytes + 3) + (uint64_t)labs(i); // bound at its first call
    }
    return sum;
}
