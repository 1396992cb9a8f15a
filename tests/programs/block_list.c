// block_list MEBIBYTES CPU_MILLISECONDS: goes along a list of small blocks of the heap in an order that has nothing to do with
// where they lie. Of eight blocks, seven are made in one place and one in another.
#define _GNU_SOURCE
#include "arithmetic.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define APART __attribute__((noinline))

struct block {
    struct block* next;
    uint64_t value[7];
};

APART static struct block* often(void) {
    struct block* const made = malloc(sizeof *made); // often
    if (made)
        made->value[0] = 1; // not a tail call
    return made;
}

APART static struct block* seldom(void) {
    struct block* const made = malloc(sizeof *made); // seldom
    if (made)
        made->value[0] = 2; // or it is the same function
    return made;
}

APART static struct block* walk(struct block* at, size_t steps) {
    for (; steps > 0; --steps)
        at = at->next; // step
    return at;
}

int main(int count, char** arguments) {
    if (count < 3)
        return 2;
    const size_t blocks = (strtoul(arguments[1], NULL, 10) << 20) / sizeof(struct block);
    struct block** const all = malloc(blocks * sizeof *all);
    for (size_t i = 0; all && i < blocks; ++i)
        if (!(all[i] = i % 8 ? often() : seldom()))
            return 2;
    for (size_t i = blocks; i-- > 1;) { // Fisher and Yates
        const size_t other = random_number() % (i + 1);
        struct block* const swapped = all[i];
        all[i] = all[other];
        all[other] = swapped;
    }
    for (size_t i = 0; i < blocks; ++i)
        all[i]->next = all[(i + 1) % blocks];
    struct block* at = all[0];
    const double end = cpu_ms() + strtod(arguments[2], NULL);
    while (cpu_ms() < end)
        at = walk(at, 1 << 16);
    printf("%d\n", at != NULL);
    return 0;
}
