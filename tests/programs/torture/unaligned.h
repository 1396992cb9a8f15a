// Accesses that the compiler neither proves nor removes.
#pragma once
#include <stdint.h>

static char unaligned_bytes[256];
static inline uint32_t touch(int n) {
    uint32_t sum = 0;
    for (int i = 0; i < n; ++i) {
        *(volatile uint32_t*)(unaligned_bytes + 1) = *(volatile uint32_t*)(unaligned_bytes + 1) + (uint32_t)i;
        sum += *(volatile uint16_t*)(unaligned_bytes + 65);
        *(volatile uint64_t*)(unaligned_bytes + 61 + (i & 3)) = sum;
    }
    return sum;
}
