/* One thread reads a setting for every item, another counts events. Planted: setting and counter are neighbours in one
   structure, so that each count takes the line from the reader. Cured: the counter has a line of its own. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { ITEMS = 500000000 };

struct server {
    volatile uint32_t level; /* read for each item, hardly ever changed */
#ifdef CURED
    char apart[64];
#endif
    volatile uint64_t events;
};

static _Alignas(64) struct server g_server;
static atomic_int g_done;

static void* count(void* unused) {
    while (!atomic_load_explicit(&g_done, memory_order_relaxed))
        g_server.events = g_server.events + 1; /* planted: false-sharing */
    return unused;
}

int main(void) {
    g_server.level = 3;
    pthread_t counter;
    pthread_create(&counter, NULL, count, NULL);
    uint32_t value = 1, above = 0;
    for (long i = 0; i < ITEMS; i++) {
        value = value * 1664525 + 1013904223;
        above += (value >> 28) > g_server.level; /* planted: false-sharing */
    }
    atomic_store(&g_done, 1);
    pthread_join(counter, NULL);
    printf("%u\n", above);
    return 0;
}
