/* Sends messages to itself through a library of the standard ABI; counts what it does as tally.h describes.
 * usage: abi_program [rounds of calls that are not counted and for which the library has nothing to do] */
#include "abi_mpi.h"

#include <stdlib.h>

#include "../tally.h"

int main(int count, char** arguments) {
    int out[64] = {0}, in[64];
    const int bytes = sizeof(int);
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Comm twin;
    const long rounds = count > 1 ? atol(arguments[1]) : 0;
    DO(Init, (&count, &arguments), 0, 0);
    DO(Send, (out, 3, MPI_INT, 0, 1, MPI_COMM_WORLD), 3 * bytes, 0);
    DO(Recv, (in, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE), 0, 3 * bytes);
    DO(Send_c, (out, 4, MPI_INT, 0, 2, MPI_COMM_WORLD), 4 * bytes, 0);
    DO(Recv, (in, 64, MPI_INT, 0, 2, MPI_COMM_WORLD, &status), 0, 4 * bytes);
    DO(Send, (out, 3, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD), 0, 0);
    DO(Comm_dup, (MPI_COMM_WORLD, &twin), 0, 0);
    for (int i = 1; i <= 20; ++i) {
        DO(Irecv, (in, 64, MPI_INT, i % 2 ? MPI_ANY_SOURCE : 0, i, twin, &requests[0]), 0, i * bytes);
        DO(Isend, (out, i, MPI_INT, 0, i, twin, &requests[1]), i * bytes, 0);
        DO(Waitall, (2, requests, MPI_STATUSES_IGNORE), 0, 0);
    }
    DO(Barrier, (twin), 0, 0);
    for (long i = 0; i < rounds; ++i) {
        MPI_Barrier(twin);
        MPI_Send(out, 3, MPI_INT, MPI_PROC_NULL, 1, twin);
    }
    DO(Allreduce, (MPI_IN_PLACE, in, 5, MPI_INT, MPI_SUM, twin), 5 * bytes, 5 * bytes);
    DO(Comm_free, (&twin), 0, 0);
    DO(Finalize, (), 0, 0);
    print_tallies(0);
    return 0;
}
