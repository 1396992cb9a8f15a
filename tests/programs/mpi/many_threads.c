/* Eight threads of each rank call MPI at the same time, each on a communicator of its own. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreads = 8, kRounds = 200, kInt = sizeof(int) };

static MPI_Comm comms[kThreads];
static int rank, size;

static void* communicate(void* argument) {
    MPI_Comm comm = *(MPI_Comm*)argument;
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    int out[16] = {0}, in[64], sum, flag;
    MPI_Request requests[2];
    for (int i = 0; i < kRounds; ++i) {
        MPI_Irecv(in, 64, MPI_INT, i % 2 ? MPI_ANY_SOURCE : previous, 1, comm, &requests[0]);
        MPI_Isend(out, 1 + i % 16, MPI_INT, next, 1, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Iprobe(MPI_ANY_SOURCE, 99, comm, &flag, MPI_STATUS_IGNORE);
        MPI_Sendrecv(out, 2, MPI_INT, next, 2, in, 64, MPI_INT, previous, 2, comm, MPI_STATUS_IGNORE);
    }
    return NULL;
}

int main(int count, char** arguments) {
    int provided = 0;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE) {
        printf("no threads\n");
        MPI_Finalize();
        return 0;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pthread_t threads[kThreads];
    for (int i = 0; i < kThreads; ++i)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < kThreads; ++i)
        pthread_create(&threads[i], NULL, communicate, &comms[i]);
    for (int i = 0; i < kThreads; ++i)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < kThreads; ++i)
        MPI_Comm_free(&comms[i]);
    long bytes = 0;
    for (int i = 0; i < kRounds; ++i)
        bytes += (1 + i % 16) * kInt;
    const long calls = (long)kThreads * kRounds;
    printf("%d MPI_Irecv %ld 0 %ld\n", rank, calls, kThreads * bytes);
    printf("%d MPI_Isend %ld %ld 0\n", rank, calls, kThreads * bytes);
    printf("%d MPI_Waitall %ld 0 0\n", rank, calls);
    printf("%d MPI_Allreduce %ld %ld %ld\n", rank, calls, calls * kInt, calls * kInt);
    printf("%d MPI_Iprobe %ld 0 0\n", rank, calls);
    printf("%d MPI_Sendrecv %ld %ld %ld\n", rank, calls, calls * 2 * kInt, calls * 2 * kInt);
    MPI_Finalize();
    return 0;
}
