// Nanoseconds of CPU time a call of the cheapest MPI calls there are, in one rank that talks to itself.
// usage: bench_mpi WHAT DEPTH CALLS. Prints ns a call, and seconds of MPI_Init and MPI_Finalize.
//   probe: MPI_Iprobe that finds nothing; test: MPI_Test of a receive that never completes; send: MPI_Send to nobody
//   (MPI_PROC_NULL); message: MPI_Isend, MPI_Recv and MPI_Wait of 8 bytes to itself, per call; reduce: MPI_Allreduce on
//   MPI_COMM_SELF
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int calls_made(const char* what) { return strcmp(what, "message") == 0 ? 3 : 1; }

static void repeat(const char* what, long count) {
    int flag, rank;
    long value = 0, other = 0;
    MPI_Request request;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(what, "probe") == 0) {
        for (long i = 0; i < count; ++i)
            MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "test") == 0) {
        MPI_Irecv(&value, 1, MPI_LONG, rank, 7, MPI_COMM_WORLD, &request);
        for (long i = 0; i < count; ++i)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        MPI_Cancel(&request);
        MPI_Request_free(&request);
    } else if (strcmp(what, "send") == 0) {
        for (long i = 0; i < count; ++i)
            MPI_Send(&value, 1, MPI_LONG, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    } else if (strcmp(what, "message") == 0) {
        for (long i = 0; i < count; ++i) {
            MPI_Isend(&value, 1, MPI_LONG, rank, 5, MPI_COMM_WORLD, &request);
            MPI_Recv(&other, 1, MPI_LONG, rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    } else {
        for (long i = 0; i < count; ++i)
            MPI_Allreduce(&value, &other, 1, MPI_LONG, MPI_SUM, MPI_COMM_SELF);
    }
}

// Not a tail call, and not inlined: `depth` frames above the loop.
__attribute__((noinline)) static int descend(const char* what, int depth, long count) {
    if (depth > 0)
        return descend(what, depth - 1, count) + 1;
    repeat(what, count);
    return 0;
}

int main(int argc, char** argv) {
    if (argc != 4)
        return 2;
    const long count = atol(argv[3]);
    const double init_begin = seconds(CLOCK_MONOTONIC);
    MPI_Init(NULL, NULL);
    const double init_end = seconds(CLOCK_MONOTONIC);
    descend(argv[1], atoi(argv[2]), count / 20 + 1); // warm
    const double begin = seconds(CLOCK_PROCESS_CPUTIME_ID);
    descend(argv[1], atoi(argv[2]), count);
    const double end = seconds(CLOCK_PROCESS_CPUTIME_ID);
    MPI_Barrier(MPI_COMM_WORLD); // or the slower rank's calls are waited for in MPI_Finalize
    const double finalize_begin = seconds(CLOCK_MONOTONIC);
    MPI_Finalize();
    printf("%.2f %.6f %.6f\n", (end - begin) * 1e9 / (double)count / calls_made(argv[1]), init_end - init_begin,
           seconds(CLOCK_MONOTONIC) - finalize_begin);
    return 0;
}
