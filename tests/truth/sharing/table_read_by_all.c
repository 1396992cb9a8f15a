/* Two threads look up in the same table, which nobody changes. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static uint32_t g_table[65536];

static void* look_up(void* seed) {
    uint32_t at = (uint32_t)(uintptr_t)seed, sum = 0;
    for (long i = 0; i < 500000000; i++) {
        at = at * 1664525 + 1013904223;
        sum += g_table[at >> 16];
    }
    return (void*)(uintptr_t)sum;
}

int main(void) {
    for (uint32_t i = 0; i < 65536; i++)
        g_table[i] = i * 2654435761u;
    pthread_t threads[2];
    uintptr_t sum = 0;
    for (uintptr_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, look_up, (void*)(i + 1));
    for (int i = 0; i < 2; i++) {
        void* part;
        pthread_join(threads[i], &part);
        sum += (uintptr_t)part;
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
