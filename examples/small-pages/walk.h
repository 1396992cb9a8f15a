/* walk MEBIBYTES MILLISECONDS [STEPS]: goes from place to place through a table, each place given by what was read at the one
   before, for so much CPU time, or with STEPS for so many steps. ASK_FOR_HUGE_PAGES: whether to, before the table is touched. Prints the nanoseconds of a step. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { kSteps = 1 << 18 };
static const size_t kHugePage = 2 << 20;

struct place {
    struct place* next;
    long filling[7];
};

__attribute__((noinline)) static struct place* walk(struct place* at, size_t steps) {
    for (size_t i = 0; i < steps; ++i)
        at = at->next; /* step */
    return at;
}

static uint64_t random_number(void) {
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static double cpu_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* One ring through all places (Sattolo's algorithm). */
static void connect(struct place* table, size_t count) {
    for (size_t i = 0; i < count; ++i)
        table[i].next = &table[i];
    for (size_t i = count - 1; i > 0; --i) {
        const size_t other = random_number() % i;
        struct place* const mine = table[i].next;
        table[i].next = table[other].next;
        table[other].next = mine;
    }
}

int main(int count, char** arguments) {
    if (count != 3 && count != 4) {
        fprintf(stderr, "usage: %s MEBIBYTES MILLISECONDS [STEPS]\n", arguments[0]);
        return 2;
    }
    const size_t bytes = (size_t)atol(arguments[1]) << 20;
    struct place* const table = ASK_FOR_HUGE_PAGES ? aligned_alloc(kHugePage, (bytes + kHugePage - 1) & ~(kHugePage - 1))
                                                   : malloc(bytes); /* allocated */
    if (!table)
        return 2;
    if (ASK_FOR_HUGE_PAGES && madvise(table, bytes, MADV_HUGEPAGE) != 0)
        return 77;
    connect(table, bytes / sizeof *table);
    struct place* at = table;
    double steps = 0;
    const double wanted = count == 4 ? strtod(arguments[3], NULL) : 0;
    const double begin = cpu_ms();
    double now = begin;
    for (; wanted > 0 ? steps < wanted : now < begin + strtod(arguments[2], NULL); now = cpu_ms(), steps += kSteps)
        at = walk(at, kSteps);
    printf("%.3f ns a step\n", (now - begin) * 1e6 / steps);
    return at == NULL;
}
