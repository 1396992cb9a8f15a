// What several programs compute with: random numbers (xorshift) that are the same in each run, and the CPU time so far.
#pragma once
#include <stdint.h>
#include <time.h>

static inline uint64_t next_random(uint64_t state) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^ (state << 17);
}

static inline uint64_t random_number(void) {
    static uint64_t state = 88172645463325252;
    return state = next_random(state);
}

// Arithmetic that takes time and no memory.
static inline uint64_t random_after(uint64_t rounds) {
    uint64_t state = 88172645463325252;
    for (uint64_t i = 0; i < rounds; i++)
        state = next_random(state);
    return state;
}

static inline double cpu_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}
