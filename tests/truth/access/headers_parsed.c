/* Walks through packets of a capture, whose headers begin wherever the packet before ended, and reads their fields by memcpy,
   as portable parsers do. What each costs is the search for the next one. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 20, ROUNDS = 24000 };

static uint16_t short_at(const unsigned char* at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t long_at(const unsigned char* at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

int main(void) {
    unsigned char* capture = calloc(1, BYTES);
    if (!capture)
        return 1;
    uint32_t random = 7;
    size_t end = 0;
    while (end + 128 < BYTES) { /* a length, a time, the rest */
        random = random * 1664525 + 1013904223;
        const uint16_t length = (uint16_t)(21 + (random >> 26));
        memcpy(capture + end, &length, sizeof length);
        capture[end + 2] = (unsigned char)(random >> 16);
        end += length;
    }
    uint64_t packets = 0, sum = 0;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t at = 0; at < end; at += short_at(capture + at)) {
            packets++;
            sum = (sum ^ long_at(capture + at + 2)) * 31;
        }
    printf("%lu %lu\n", (unsigned long)packets, (unsigned long)sum);
    free(capture);
    return 0;
}
