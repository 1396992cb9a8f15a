/* What a test program counts itself, to be compared with what the tool saw: calls of each MPI function, the bytes
 * that this rank contributed and the bytes that it got. Printed for each rank as `RANK FUNCTION CALLS SENT RECEIVED`. */
#ifndef PLUMB_TEST_TALLY_H
#define PLUMB_TEST_TALLY_H

#include <stdio.h>
#include <string.h>

static struct {
    const char* name;
    long calls, sent, received;
} tallies[256];
static int tally_count;

static void tally(const char* name, long sent, long received) {
    int i = 0;
    while (i < tally_count && strcmp(tallies[i].name, name) != 0)
        ++i;
    if (i == tally_count)
        tallies[tally_count++].name = name;
    tallies[i].calls += 1;
    tallies[i].sent += sent;
    tallies[i].received += received;
}

static void print_tallies(int rank) {
    for (int i = 0; i < tally_count; ++i)
        printf("%d %s %ld %ld %ld\n", rank, tallies[i].name, tallies[i].calls, tallies[i].sent, tallies[i].received);
    fflush(stdout);
}

/* One call of MPI_name; what it is given and gets besides the call itself. */
#define DO(name, arguments, sent, received)                                                                  \
    do {                                                                                                     \
        MPI_##name arguments;                                                                                \
        tally("MPI_" #name, sent, received);                                                                 \
    } while (0)

#endif
