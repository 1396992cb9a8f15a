/* Jobs that do unusual things and end well. usage: unusual WHAT
 *   nothing: MPI is linked, and never called
 *   orders: collectives on several communicators, begun by each rank in an order of its own
 *   meet: three reductions of all ranks, and a message around; prints the sum */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, size;
static char text[100]; /* what the rank has to say */

/* All that the ranks have to say, by rank 0: some launchers mix up the lines of several. */
static void print_all(void) {
    static char all[16 * sizeof text];
    MPI_Gather(text, sizeof text, MPI_CHAR, all, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; ++i)
        fputs(all + (size_t)i * sizeof text, stdout);
}

/* Those of the same half and those of the same parity; non-blocking ones may be begun in any order across communicators. */
static void orders(void) {
    enum { kRounds = 20 };
    MPI_Comm comms[3];
    MPI_Request requests[3];
    int sums[3], total = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2, -rank, &comms[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    for (int round = 0; round < kRounds; ++round) {
        for (int i = 0; i < 3; ++i) {
            const int which = (i + rank + round) % 3;
            MPI_Iallreduce(&rank, &sums[which], 1, MPI_INT, MPI_SUM, comms[which], &requests[which]);
        }
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        total += sums[0] + 10 * sums[1] + 100 * sums[2];
        if (rank % 2) /* blocking ones of some, meanwhile */
            MPI_Barrier(comms[0]);
        MPI_Barrier(comms[1]);
    }
    sprintf(text, "%d orders %d\n", rank, total);
    for (int i = 0; i < 3; ++i)
        MPI_Comm_free(&comms[i]);
}

static void meet(void) {
    int value = rank + 1, sum = 0, got = 0;
    for (int i = 0; i < 3; ++i)
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    sprintf(text, "%d meet %d %d\n", rank, sum, got);
}

int main(int argc, char** argv) {
    const char* what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "nothing") == 0) {
        puts("nothing");
        return 4;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "orders") == 0)
        orders();
    else
        meet();
    print_all();
    MPI_Finalize();
    return 0;
}
