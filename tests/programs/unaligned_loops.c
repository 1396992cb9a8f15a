/* Loops over data OFFSET bytes off their alignment (0: aligned), ROUNDS times; prints the seconds that they took.
     pages:  numbers at the ends of slots of a page each; with an offset every store crosses into the next page
     chain:  a recurrence over an array: an access in eight crosses a line, while each step waits for the one before */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 4096, SLOTS = 8, NUMBERS = 3000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t pages(char* memory, size_t offset, uint64_t rounds) {
    for (uint64_t round = 0; round < rounds; round++)
        for (size_t slot = 0; slot < SLOTS; slot++)
            *(volatile uint64_t*)(void*)(memory + slot * PAGE + PAGE - 8 + offset) = round; /* culprit: pages */
    return (uint64_t)memory[PAGE];
}

static double chain(const char* memory, size_t offset, uint64_t rounds) {
    double sum = 0;
    for (uint64_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < NUMBERS; i++) {
            double value;
            memcpy(&value, memory + offset + i * sizeof value, sizeof value);
            sum = sum * 0.5 + value;
        }
    return sum;
}

int main(int count, char** arguments) {
    if (count != 4)
        return 2;
    const size_t offset = strtoull(arguments[2], NULL, 10);
    const uint64_t rounds = strtoull(arguments[3], NULL, 10);
    char* memory = aligned_alloc(PAGE, (SLOTS + 1) * PAGE);
    if (!memory)
        return 1;
    memset(memory, 0, (SLOTS + 1) * PAGE);
    const double begin = now();
    const double result = strcmp(arguments[1], "pages") == 0 ? (double)pages(memory, offset, rounds) : chain(memory, offset, rounds);
    printf("%.6f\n", now() - begin);
    free(memory);
    return result < 0; /* never */
}
