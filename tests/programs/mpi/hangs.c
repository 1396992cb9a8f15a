// Hangs in a way that its first argument names; each rank says on a line of its own that it is about to: "RANK ready".
// ring: every rank receives from the next one.  pending_ring: likewise, by MPI_Irecv and MPI_Wait.  missing: the last rank
// computes while the others are in MPI_Allreduce.  tag: rank 1 waits for tag 5, rank 0 sends tag 6 and waits for a reply.
// fence: missing, in MPI_Win_fence.  abort: the last rank calls MPI_Abort while the others wait for it.  none: nobody hangs.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

static void ready(void) {
    char line[32];
    snprintf(line, sizeof line, "%d ready\n", rank);
    fputs(line, stdout);
    fflush(stdout);
}

static void ring(void) {
    int value = 0;
    ready();
    MPI_Recv(&value, 1, MPI_INT, (rank + 1) % size, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // ring
}

static void pending_ring(void) {
    int value = 0;
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, (rank + 1) % size, 17, MPI_COMM_WORLD, &request);
    ready();
    MPI_Wait(&request, MPI_STATUS_IGNORE); // pending_ring
}

static void missing(void) {
    volatile double work = 1;
    double sum = 0, one = 1;
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &half); // its ranks run backwards
    MPI_Comm_set_name(half, "backwards");
    for (int i = 0; i < 3; ++i)
        MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, half);
    ready();
    if (rank == size - 1)
        for (;;)
            work = work * 1.0000001 + 1e-9; // computes
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, half); // missing
}

static void fence(void) {
    volatile double work = 1;
    double place = 0;
    MPI_Win window;
    MPI_Win_create(&place, sizeof place, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    ready();
    if (rank == size - 1)
        for (;;)
            work = work * 1.0000001 + 1e-9; // outside
    MPI_Win_fence(0, window); // fence
}

static void tag(void) {
    int value = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD); // wrong tag
    ready();
    if (rank == 0)
        MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // right tag
}

static void abort_all(void) {
    int value = rank, sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == size - 1) {
        sleep(1); // the others have come by then
        MPI_Abort(MPI_COMM_WORLD, 7); // abort
    }
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); // aborted
}

static void none(void) {
    int value = rank, sum = 0;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    ready();
}

int main(int argc, char** argv) {
    static const struct {
        const char* name;
        void (*function)(void);
    } ways[] = {{"ring", ring}, {"pending_ring", pending_ring}, {"missing", missing}, {"fence", fence},
                {"tag", tag}, {"abort", abort_all}, {"none", none}};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (unsigned i = 0; i < sizeof ways / sizeof *ways; ++i)
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0)
            ways[i].function();
    MPI_Finalize();
    return 0;
}
