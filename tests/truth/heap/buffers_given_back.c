/* Filters frames of a film. Planted: a buffer for each frame, so large that it goes back to the system each time, and each
   of its pages costs a fault. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 40 << 20, FRAMES = 110 };

static unsigned long filter(unsigned char* frame, int number) {
    unsigned long sum = 0;
    memset(frame, number, BYTES); /* planted: kernel-time */
    for (size_t i = 0; i < BYTES; i += 16)
        sum += frame[i] * (i >> 4 & 3);
    return sum;
}

int main(void) {
    unsigned long sum = 0;
#ifdef CURED
    unsigned char* kept = malloc(BYTES);
    for (int i = 0; i < FRAMES; i++)
        sum += filter(kept, i);
    free(kept);
#else
    for (int i = 0; i < FRAMES; i++) {
        unsigned char* frame = malloc(BYTES); /* planted: kernel-time */
        sum += filter(frame, i);
        free(frame); /* planted: kernel-time */
    }
#endif
    printf("%lu\n", sum);
    return 0;
}
