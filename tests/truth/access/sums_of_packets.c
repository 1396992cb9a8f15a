/* Sums up sizes per flow in packed records of a flow table. Planted: a flow is 29 bytes, so that its counters lie across cache
   lines now and then. Cured: the compiler lays them out. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef CURED
#define PACKED
#else
#define PACKED __attribute__((packed))
#endif

struct PACKED flow {
    uint8_t protocol;
    uint32_t address;
    uint64_t packets, bytes, last;
};

enum { FLOWS = 400, ROUNDS = 4000000 };

static void account(struct flow* flows, uint64_t round) {
    for (int i = 0; i < FLOWS; i++) {
        flows[i].packets += 1;                 /* planted: line-split-access */
        flows[i].bytes += 64 + (round & 1023); /* planted: line-split-access */
        flows[i].last = round;                 /* planted: line-split-access */
    }
}

int main(void) {
    struct flow* flows = calloc(FLOWS, sizeof(*flows));
    if (!flows)
        return 1;
    for (uint64_t round = 0; round < ROUNDS; round++)
        account(flows, round);
    uint64_t packets = 0, bytes = 0;
    for (int i = 0; i < FLOWS; i++) {
        packets += flows[i].packets;
        bytes += flows[i].bytes;
    }
    printf("%lu %lu\n", (unsigned long)packets, (unsigned long)bytes);
    free(flows);
    return 0;
}
