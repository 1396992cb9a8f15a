/* Looks up in a table that fits into the cache, at places that depend on what was found. */
#include <stdio.h>

static unsigned g_table[16384];

int main(void) {
    for (unsigned i = 0; i < 16384; i++)
        g_table[i] = i * 2654435761u;
    unsigned at = 1, sum = 0;
    for (long i = 0; i < 250000000; i++) {
        at = g_table[(at + (unsigned)i) & 16383];
        sum ^= at;
    }
    printf("%u\n", sum);
    return 0;
}
