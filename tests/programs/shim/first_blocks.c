/* Prints where in their pages its first blocks begin: that must not depend on the shim. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    static char room[256]; /* or printf() would allocate in between */
    setvbuf(stdout, room, _IOFBF, sizeof room);
    for (size_t bytes = 8; bytes <= 12800; bytes += bytes / 3 + 8)
        printf("%zu %u\n", bytes, (unsigned)((uintptr_t)malloc(bytes) % 4096));
    return 0;
}
