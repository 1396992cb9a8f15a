// The last rank is late in every step, because it sleeps; the first one waits for it in one of many ways.
// usage: late WAY STEPS MILLISECONDS [FILE]. The first rank prints for how many seconds it waited.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { large = 4 << 20 };

static int rank, last;
static char *here, *there;
static MPI_Win window;
static MPI_File file;

static void nap(int milliseconds) {
    const struct timespec length = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&length, NULL);
}

// The first rank's side: what it waits in.
static void wait_in(const char* way) {
    MPI_Request request;
    MPI_Message message;
    int flag = 0;
    if (strcmp(way, "recv") == 0) {
        MPI_Recv(here, 8, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "wait") == 0) {
        MPI_Irecv(here, 8, MPI_CHAR, last, 1, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "test") == 0) {
        MPI_Irecv(here, 8, MPI_CHAR, last, 1, MPI_COMM_WORLD, &request);
        while (!flag)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "probe") == 0) {
        MPI_Probe(last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(here, 8, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "iprobe") == 0) {
        while (!flag)
            MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        MPI_Recv(here, 8, MPI_CHAR, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "mprobe") == 0) {
        MPI_Mprobe(last, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(here, 8, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "ssend") == 0) {
        MPI_Ssend(here, 8, MPI_CHAR, last, 1, MPI_COMM_WORLD);
    } else if (strcmp(way, "send") == 0) {
        MPI_Send(here, large, MPI_CHAR, last, 1, MPI_COMM_WORLD);
    } else if (strcmp(way, "allreduce") == 0) {
        MPI_Allreduce(here, there, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(way, "reduce") == 0) {
        MPI_Reduce(here, there, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    } else if (strcmp(way, "fence") == 0) {
        MPI_Put(here, 8, MPI_CHAR, rank == last ? 0 : rank + 1, 0, 8, MPI_CHAR, window);
        MPI_Win_fence(0, window);
    } else if (strcmp(way, "write") == 0) {
        MPI_File_write_at_all(file, 8 * rank, here, 8, MPI_CHAR, MPI_STATUS_IGNORE);
    } else if (strcmp(way, "sync") == 0) {
        MPI_File_sync(file);
    }
}

static int is_collective(const char* way) {
    return strcmp(way, "allreduce") == 0 || strcmp(way, "reduce") == 0 || strcmp(way, "fence") == 0 ||
           strcmp(way, "write") == 0 || strcmp(way, "sync") == 0;
}

// The last rank's side; of collectives, of all others.
static void answer(const char* way) {
    if (is_collective(way))
        wait_in(way);
    else if (rank != last)
        return;
    else if (strcmp(way, "ssend") == 0 || strcmp(way, "send") == 0)
        MPI_Recv(there, large, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        MPI_Send(there, 8, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    if (argc < 4)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &last);
    --last;
    here = calloc(1, large);
    there = calloc(1, large);
    double waited = 0;
    MPI_Win_create(there, large, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (strcmp(argv[1], "fence") == 0)
        MPI_Win_fence(0, window);
    if (argc > 4 && MPI_File_open(MPI_COMM_WORLD, argv[4], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) != MPI_SUCCESS)
        return 3;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < atoi(argv[2]); ++step) {
        if (rank == last)
            nap(atoi(argv[3])); // late
        const double begin = MPI_Wtime();
        if (rank == 0) {
            wait_in(argv[1]);
            waited += MPI_Wtime() - begin;
        } else {
            answer(argv[1]);
        }
    }
    if (rank == 0)
        printf("%.6f\n", waited);
    if (argc > 4)
        MPI_File_close(&file);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
