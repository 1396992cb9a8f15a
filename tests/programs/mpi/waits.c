// Messages through every form of completion, in a ring; on sub-communicators that come and go in orders of their own.
// usage: waits ROUNDS. Prints a checksum.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int sum;

static void complete(int how, int count, MPI_Request* requests) {
    int done = 0, flag = 0, index = 0, some = 0, indices[4];
    MPI_Status statuses[4];
    switch (how) {
    case 0:
        for (int i = 0; i < count; ++i)
            MPI_Wait(&requests[i], i % 2 ? MPI_STATUS_IGNORE : &statuses[i]);
        break;
    case 1: MPI_Waitall(count, requests, MPI_STATUSES_IGNORE); break;
    case 2:
        for (; done < count; ++done)
            MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
        break;
    case 3:
        for (; done < count; done += some)
            MPI_Waitsome(count, requests, &some, indices, MPI_STATUSES_IGNORE);
        break;
    case 4:
        for (int i = 0; i < count; ++i)
            for (flag = 0; !flag;)
                MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        break;
    case 5:
        while (!flag)
            MPI_Testall(count, requests, &flag, statuses);
        break;
    case 6:
        for (; done < count; done += flag)
            MPI_Testany(count, requests, &index, &flag, MPI_STATUS_IGNORE);
        break;
    default:
        for (; done < count; done += some)
            MPI_Testsome(count, requests, &some, indices, statuses);
    }
}

// Two sends to the right and two receives from the left, of which one takes anything.
static void exchange(MPI_Comm comm, int how, int tag) {
    int rank, size, out[2], in[2] = {0, 0};
    MPI_Request requests[4];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    out[0] = how;
    out[1] = rank;
    MPI_Irecv(&in[0], 1, MPI_INT, left, tag, comm, &requests[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, how % 2 ? MPI_ANY_SOURCE : left, how % 4 > 1 ? MPI_ANY_TAG : tag + 1, comm, &requests[1]);
    MPI_Isend(&out[0], 1, MPI_INT, right, tag, comm, &requests[2]);
    MPI_Isend(&out[1], 1, MPI_INT, right, tag + 1, comm, &requests[3]);
    complete(how, 4, requests);
    sum += in[0] + in[1];
    MPI_Barrier(comm); // so that MPI_ANY_TAG takes nothing of the next round
}

static void persistent(MPI_Comm comm, int rounds) {
    int rank, size, out = 1, in = 0;
    MPI_Request requests[2];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 40, comm, &requests[0]);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 40, comm, &requests[1]);
    for (int i = 0; i < rounds; ++i) {
        if (i % 2) {
            MPI_Startall(2, requests);
        } else {
            MPI_Start(&requests[1]);
            MPI_Start(&requests[0]);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        sum += in;
        MPI_Barrier(comm);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

int main(int argc, char** argv) {
    int rank, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int rounds = argc > 1 ? atoi(argv[1]) : 4;
    for (int round = 0; round < rounds; ++round) {
        MPI_Comm half, copy, later, alone;
        MPI_Request request;
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half); // in the opposite order
        if (rank % 2)
            MPI_Comm_dup(half, &copy); // one side makes one more, and frees it before the other
        MPI_Comm_idup(half, &later, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_dup(MPI_COMM_SELF, &alone);
        for (int how = 0; how < 8; ++how) {
            exchange(MPI_COMM_WORLD, how, 2 * how);
            exchange(half, how, 2 * how);
            exchange(later, how, 2 * how);
        }
        if (rank % 2)
            exchange(copy, round % 8, 3);
        persistent(later, 3);
        MPI_Comm_free(&half);
        if (rank % 2)
            MPI_Comm_free(&copy);
        MPI_Comm_free(&later);
        MPI_Comm_free(&alone);
    }
    MPI_Reduce(&sum, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d\n", total);
    MPI_Finalize();
    return 0;
}
