/* Sums up a column of a table of packed records that is larger than the caches. The records lie off their alignment and some
   cross lines, but each line comes from memory, and that is what takes the time. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct __attribute__((packed)) event {
    uint8_t kind;
    uint64_t time;
    char text[244];
};

enum { EVENTS = 800000, ROUNDS = 60 };

int main(void) {
    struct event* events = malloc(EVENTS * sizeof(*events));
    if (!events)
        return 1;
    memset(events, 1, EVENTS * sizeof(*events));
    uint64_t latest = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < EVENTS; i++) {
            const uint64_t time = events[i].time + (uint64_t)round;
            latest ^= time;
        }
    printf("%lu\n", (unsigned long)latest);
    free(events);
    return 0;
}
