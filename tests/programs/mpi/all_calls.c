/* Every kind of MPI call, in C, on three ranks or more; counts what it does. */
#include "tally.h"

#include <mpi.h>
#include <stdlib.h>

enum { kInt = sizeof(int), kDouble = sizeof(double), kMost = 4096 };

static int rank, size, next, previous;
static int out[kMost], in[kMost];

static void messages(MPI_Comm comm) {
    MPI_Status status;
    MPI_Request request, requests[4];
    int flag = 0, index = 0, found = 0, indices[4];

    /* A ring that cannot deadlock: even ranks send first. The room is always larger than the message. */
    if (rank % 2 == 0) {
        DO(Ssend, (out, 10, MPI_INT, next, 1, comm), 10 * kInt, 0);
        DO(Recv, (in, 100, MPI_INT, previous, 1, comm, &status), 0, 10 * kInt);
    } else {
        DO(Recv, (in, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), 0, 10 * kInt);
        DO(Ssend, (out, 10, MPI_INT, next, 1, comm), 10 * kInt, 0);
    }
    DO(Barrier, (comm), 0, 0);
    DO(Send, (out, 3, MPI_INT, MPI_PROC_NULL, 1, comm), 0, 0);
    DO(Recv, (in, 3, MPI_INT, MPI_PROC_NULL, 1, comm, MPI_STATUS_IGNORE), 0, 0);
    DO(Sendrecv, (out, 7, MPI_INT, next, 2, in, 50, MPI_INT, previous, 2, comm, MPI_STATUS_IGNORE), 7 * kInt, 7 * kInt);
    DO(Sendrecv_replace, (in, 6, MPI_INT, next, 3, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE), 6 * kInt, 6 * kInt);

    DO(Irecv, (in, 99, MPI_INT, previous, 4, comm, &request), 0, 5 * kInt);
    DO(Send, (out, 5, MPI_INT, next, 4, comm), 5 * kInt, 0);
    DO(Wait, (&request, MPI_STATUS_IGNORE), 0, 0);
    DO(Irecv, (in, 99, MPI_INT, MPI_ANY_SOURCE, 5, comm, &requests[0]), 0, 4 * kInt);
    DO(Irecv, (in + 100, 99, MPI_INT, previous, 6, comm, &requests[1]), 0, 3 * kInt);
    DO(Isend, (out, 4, MPI_INT, next, 5, comm, &requests[2]), 4 * kInt, 0);
    DO(Issend, (out, 3, MPI_INT, next, 6, comm, &requests[3]), 3 * kInt, 0);
    DO(Waitall, (4, requests, MPI_STATUSES_IGNORE), 0, 0);
    DO(Barrier, (comm), 0, 0);

    for (int i = 0; i < 2; ++i) {
        DO(Irecv, (in + 100 * i, 99, MPI_INT, previous, 7 + i, comm, &requests[i]), 0, (2 + i) * kInt);
        DO(Isend, (out, 2 + i, MPI_INT, next, 7 + i, comm, &requests[2 + i]), (2 + i) * kInt, 0);
    }
    for (int i = 0; i < 4; ++i)
        DO(Waitany, (4, requests, &index, MPI_STATUS_IGNORE), 0, 0);
    DO(Irecv, (in, 99, MPI_INT, previous, 9, comm, &requests[0]), 0, 9 * kInt);
    DO(Isend, (out, 9, MPI_INT, next, 9, comm, &requests[1]), 9 * kInt, 0);
    for (int done = 0; done < 2; done += found)
        DO(Waitsome, (2, requests, &found, indices, MPI_STATUSES_IGNORE), 0, 0);

    DO(Irecv, (in, 99, MPI_INT, previous, 10, comm, &request), 0, 8 * kInt);
    DO(Isend, (out, 8, MPI_INT, next, 10, comm, &requests[0]), 8 * kInt, 0);
    for (flag = 0; !flag;)
        DO(Test, (&request, &flag, MPI_STATUS_IGNORE), 0, 0);
    for (flag = 0; !flag;)
        DO(Testall, (1, requests, &flag, MPI_STATUSES_IGNORE), 0, 0);
    DO(Irecv, (in, 99, MPI_INT, previous, 11, comm, &requests[0]), 0, 7 * kInt);
    DO(Isend, (out, 7, MPI_INT, next, 11, comm, &requests[1]), 7 * kInt, 0);
    for (int done = 0; done < 1; done += flag && index != MPI_UNDEFINED)
        DO(Testany, (2, requests, &index, &flag, MPI_STATUS_IGNORE), 0, 0);
    for (int done = 0; done < 1; done += found)
        DO(Testsome, (2, requests, &found, indices, MPI_STATUSES_IGNORE), 0, 0);

    /* Probes, matched ones too. */
    DO(Isend, (out, 11, MPI_INT, next, 12, comm, &request), 11 * kInt, 0);
    DO(Probe, (MPI_ANY_SOURCE, 12, comm, MPI_STATUS_IGNORE), 0, 0);
    for (flag = 0; !flag;)
        DO(Iprobe, (previous, 12, comm, &flag, MPI_STATUS_IGNORE), 0, 0);
    DO(Recv, (in, 99, MPI_INT, previous, 12, comm, MPI_STATUS_IGNORE), 0, 11 * kInt);
    DO(Wait, (&request, &status), 0, 0);
    MPI_Message message;
    DO(Isend, (out, 12, MPI_INT, next, 13, comm, &requests[0]), 12 * kInt, 0);
    DO(Isend, (out, 13, MPI_INT, next, 14, comm, &requests[1]), 13 * kInt, 0);
    DO(Mprobe, (MPI_ANY_SOURCE, 13, comm, &message, MPI_STATUS_IGNORE), 0, 0);
    DO(Mrecv, (in, 99, MPI_INT, &message, MPI_STATUS_IGNORE), 0, 12 * kInt);
    for (flag = 0; !flag;)
        DO(Improbe, (MPI_ANY_SOURCE, 14, comm, &flag, &message, MPI_STATUS_IGNORE), 0, 0);
    DO(Imrecv, (in, 99, MPI_INT, &message, &requests[2]), 0, 13 * kInt);
    DO(Waitall, (3, requests, MPI_STATUSES_IGNORE), 0, 0);

    /* Persistent: bytes belong to whoever starts them. */
    DO(Recv_init, (in, 99, MPI_INT, previous, 15, comm, &requests[0]), 0, 0);
    DO(Send_init, (out, 14, MPI_INT, next, 15, comm, &requests[1]), 0, 0);
    for (int i = 0; i < 3; ++i) {
        DO(Startall, (2, requests), 14 * kInt, 14 * kInt);
        DO(Waitall, (2, requests, MPI_STATUSES_IGNORE), 0, 0);
    }
    DO(Start, (&requests[0]), 0, 14 * kInt);
    DO(Start, (&requests[1]), 14 * kInt, 0);
    DO(Wait, (&requests[0], MPI_STATUS_IGNORE), 0, 0);
    DO(Wait, (&requests[1], MPI_STATUS_IGNORE), 0, 0);
    DO(Request_free, (&requests[0]), 0, 0);
    DO(Request_free, (&requests[1]), 0, 0);

    /* A receive that never gets anything. */
    DO(Irecv, (in, 99, MPI_INT, previous, 9999, comm, &request), 0, 0);
    DO(Cancel, (&request), 0, 0);
    DO(Wait, (&request, &status), 0, 0);

    /* Buffered and ready sends. */
    char* buffer = malloc(100000);
    MPI_Buffer_attach(buffer, 100000);
    DO(Bsend, (out, 15, MPI_INT, next, 16, comm), 15 * kInt, 0);
    DO(Recv, (in, 99, MPI_INT, previous, 16, comm, &status), 0, 15 * kInt);
    int bytes = 0;
    DO(Buffer_detach, (&buffer, &bytes), 0, 0);
    free(buffer);
    DO(Irecv, (in, 99, MPI_INT, previous, 17, comm, &request), 0, 16 * kInt);
    DO(Barrier, (comm), 0, 0);
    DO(Rsend, (out, 16, MPI_INT, next, 17, comm), 16 * kInt, 0);
    DO(Wait, (&request, MPI_STATUS_IGNORE), 0, 0);
}

/* More requests than anybody keeps statuses for on a stack, received from anywhere. */
static void many_requests(MPI_Comm comm) {
    enum { kMany = 300 };
    MPI_Request requests[2 * kMany];
    for (int i = 0; i < kMany; ++i) {
        DO(Irecv, (in + i, 1, MPI_INT, MPI_ANY_SOURCE, 20, comm, &requests[i]), 0, kInt);
        DO(Isend, (out + i, 1, MPI_INT, next, 20, comm, &requests[kMany + i]), kInt, 0);
    }
    DO(Waitall, (2 * kMany, requests, MPI_STATUSES_IGNORE), 0, 0);
}

static void derived_types(MPI_Comm comm) {
    MPI_Datatype column, record;
    double matrix[16][16] = {{0}}, got[16] = {0};
    MPI_Type_vector(16, 1, 16, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    DO(Sendrecv, (&matrix[0][3], 1, column, next, 30, got, 16, MPI_DOUBLE, previous, 30, comm, MPI_STATUS_IGNORE),
       16 * kDouble, 16 * kDouble);
    DO(Type_free, (&column), 0, 0);

    /* Absolute addresses from MPI_BOTTOM; the handle may be the freed one again, the size is another. */
    int lengths[2] = {2, 3};
    MPI_Aint places[2];
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Get_address(out, &places[0]);
    MPI_Get_address(matrix, &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &record);
    MPI_Type_commit(&record);
    DO(Bcast, (MPI_BOTTOM, 1, record, 0, comm), rank == 0 ? 2 * kInt + 3 * kDouble : 0,
       rank == 0 ? 0 : 2 * kInt + 3 * kDouble);
    DO(Type_free, (&record), 0, 0);
}

static void collectives(MPI_Comm comm) {
    int counts[64], displacements[64], byte_displacements[64], total = 0;
    MPI_Datatype types[64];
    for (int i = 0; i < size; ++i) {
        counts[i] = i + 1;
        displacements[i] = total;
        byte_displacements[i] = total * kInt;
        types[i] = MPI_INT;
        total += i + 1;
    }
    const int root = size - 1, own = rank + 1, is_root = rank == root;
    DO(Barrier, (comm), 0, 0);
    DO(Bcast, (in, 21, MPI_INT, root, comm), is_root ? 21 * kInt : 0, is_root ? 0 : 21 * kInt);
    DO(Reduce, (out, in, 5, MPI_INT, MPI_SUM, root, comm), 5 * kInt, is_root ? 5 * kInt : 0);
    DO(Allreduce, (out, in, 6, MPI_INT, MPI_SUM, comm), 6 * kInt, 6 * kInt);
    DO(Allreduce, (MPI_IN_PLACE, in, 7, MPI_INT, MPI_SUM, comm), 7 * kInt, 7 * kInt);
    DO(Scan, (out, in, 3, MPI_INT, MPI_SUM, comm), 3 * kInt, 3 * kInt);
    DO(Exscan, (out, in, 3, MPI_INT, MPI_SUM, comm), 3 * kInt, rank == 0 ? 0 : 3 * kInt);
    DO(Gather, (is_root ? MPI_IN_PLACE : out, 4, MPI_INT, in, 4, MPI_INT, root, comm), 4 * kInt,
       is_root ? 4 * kInt * size : 0);
    DO(Gatherv, (is_root ? MPI_IN_PLACE : (void*)out, own, MPI_INT, in, counts, displacements, MPI_INT, root, comm),
       own * kInt, is_root ? total * kInt : 0);
    DO(Scatter, (out, 4, MPI_INT, is_root ? MPI_IN_PLACE : in, 4, MPI_INT, root, comm),
       is_root ? 4 * kInt * size : 0, 4 * kInt);
    DO(Scatterv, (out, counts, displacements, MPI_INT, in, own, MPI_INT, root, comm), is_root ? total * kInt : 0,
       own * kInt);
    DO(Allgather, (out, 2, MPI_INT, in, 2, MPI_INT, comm), 2 * kInt, 2 * kInt * size);
    DO(Allgather, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, comm), 2 * kInt, 2 * kInt * size);
    DO(Allgatherv, (out, own, MPI_INT, in, counts, displacements, MPI_INT, comm), own * kInt, total * kInt);
    DO(Alltoall, (out, 3, MPI_INT, in, 3, MPI_INT, comm), 3 * kInt * size, 3 * kInt * size);
    DO(Alltoall, (MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 3, MPI_INT, comm), 3 * kInt * size, 3 * kInt * size);
    int own_counts[64], own_displacements[64];
    for (int i = 0; i < size; ++i) {
        own_counts[i] = own;
        own_displacements[i] = i * own;
    }
    DO(Alltoallv, (out, counts, displacements, MPI_INT, in, own_counts, own_displacements, MPI_INT, comm),
       total * kInt, own * size * kInt);
    int own_byte_displacements[64];
    for (int i = 0; i < size; ++i)
        own_byte_displacements[i] = own_displacements[i] * kInt;
    DO(Alltoallw, (out, counts, byte_displacements, types, in, own_counts, own_byte_displacements, types, comm),
       total * kInt, own * size * kInt);
    DO(Reduce_scatter, (out, in, counts, MPI_INT, MPI_SUM, comm), total * kInt, own * kInt);
    DO(Reduce_scatter_block, (out, in, 2, MPI_INT, MPI_SUM, comm), 2 * size * kInt, 2 * kInt);

    MPI_Request requests[4];
    static int more[4][kMost];
    DO(Ibarrier, (comm, &requests[0]), 0, 0);
    DO(Ibcast, (more[0], 9, MPI_INT, 0, comm, &requests[1]), rank == 0 ? 9 * kInt : 0, rank == 0 ? 0 : 9 * kInt);
    DO(Iallreduce, (out, more[1], 8, MPI_INT, MPI_MAX, comm, &requests[2]), 8 * kInt, 8 * kInt);
    DO(Ialltoallv, (out, counts, displacements, MPI_INT, more[2], own_counts, own_displacements, MPI_INT, comm,
                    &requests[3]),
       total * kInt, own * size * kInt);
    DO(Waitall, (4, requests, MPI_STATUSES_IGNORE), 0, 0);
}

static void topologies(void) {
    MPI_Comm ring, graph;
    const int periodic = 1;
    DO(Cart_create, (MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring), 0, 0);
    DO(Neighbor_allgather, (out, 3, MPI_INT, in, 3, MPI_INT, ring), 2 * 3 * kInt, 2 * 3 * kInt);
    DO(Neighbor_alltoall, (out, 4, MPI_INT, in, 4, MPI_INT, ring), 2 * 4 * kInt, 2 * 4 * kInt);
    DO(Comm_free, (&ring), 0, 0);
    // At the ends of a row there is one neighbour: what the arrays say of the other one transfers nothing.
    MPI_Comm row;
    const int open = 0, below = rank > 0, above = rank < size - 1, counts[2] = {2, 3}, starts[2] = {0, 8};
    const MPI_Aint byte_starts[2] = {0, 32};
    const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    const int got_counts[2] = {3, 2}; // what the one below sends upwards, what the one above sends downwards
    DO(Cart_create, (MPI_COMM_WORLD, 1, &size, &open, 0, &row), 0, 0);
    DO(Neighbor_allgather, (out, 3, MPI_INT, in, 3, MPI_INT, row), (below + above) * 3 * kInt, (below + above) * 3 * kInt);
    DO(Neighbor_allgatherv, (out, 3, MPI_INT, in, (int[]){3, 3}, starts, MPI_INT, row), (below + above) * 3 * kInt,
       (below + above) * 3 * kInt);
    DO(Neighbor_alltoall, (out, 4, MPI_INT, in, 4, MPI_INT, row), (below + above) * 4 * kInt, (below + above) * 4 * kInt);
    DO(Neighbor_alltoallv, (out, counts, starts, MPI_INT, in, got_counts, starts, MPI_INT, row),
       (2 * below + 3 * above) * kInt, (3 * below + 2 * above) * kInt);
    DO(Neighbor_alltoallw, (out, counts, byte_starts, types, in, got_counts, byte_starts, types, row),
       (2 * below + 3 * above) * kInt, (3 * below + 2 * above) * kInt);
    DO(Comm_free, (&row), 0, 0);
    DO(Dist_graph_create_adjacent, (MPI_COMM_WORLD, 1, &previous, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                    MPI_INFO_NULL, 0, &graph), 0, 0);
    const int count = 5, none = 0, got = 5;
    const MPI_Aint start = 0;
    const MPI_Datatype type = MPI_INT;
    DO(Neighbor_alltoallv, (out, &count, &none, MPI_INT, in, &got, &none, MPI_INT, graph), 5 * kInt, 5 * kInt);
    DO(Neighbor_alltoallw, (out, &count, &start, &type, in, &got, &start, &type, graph), 5 * kInt, 5 * kInt);
    MPI_Request request;
    DO(Ineighbor_allgather, (out, 1, MPI_INT, in, 1, MPI_INT, graph, &request), kInt, kInt);
    DO(Wait, (&request, MPI_STATUS_IGNORE), 0, 0);
    DO(Comm_free, (&graph), 0, 0);
}

static void communicators(void) {
    MPI_Comm half, twin, late, inter, merged;
    MPI_Request request;
    DO(Comm_split, (MPI_COMM_WORLD, rank % 2, -rank, &half), 0, 0);
    DO(Comm_dup, (half, &twin), 0, 0);
    DO(Comm_set_name, (twin, "the twin"), 0, 0);
    DO(Allreduce, (out, in, 1, MPI_INT, MPI_SUM, twin), kInt, kInt);
    DO(Comm_idup, (MPI_COMM_WORLD, &late, &request), 0, 0);
    DO(Wait, (&request, MPI_STATUS_IGNORE), 0, 0);
    DO(Barrier, (late), 0, 0);
    DO(Comm_free, (&late), 0, 0);
    /* Between the groups of even and odd ranks; their first members are those of the highest rank. */
    const int even = (size - 1) & ~1, odd = size % 2 == 0 ? size - 1 : size - 2;
    DO(Intercomm_create, (half, 0, MPI_COMM_WORLD, rank % 2 == 0 ? odd : even, 40, &inter), 0, 0);
    const int root = rank % 2 != 0 ? 0 : rank == even ? MPI_ROOT : MPI_PROC_NULL;
    DO(Bcast, (in, 6, MPI_INT, root, inter), rank == even ? 6 * kInt : 0, rank % 2 != 0 ? 6 * kInt : 0);
    int members = 0, others = 0;
    MPI_Comm_size(half, &members);
    MPI_Comm_remote_size(inter, &others);
    DO(Allgather, (out, 2, MPI_INT, in, 2, MPI_INT, inter), 2 * kInt, 2 * kInt * others);
    DO(Intercomm_merge, (inter, rank % 2, &merged), 0, 0);
    DO(Barrier, (merged), 0, 0);
    DO(Comm_free, (&merged), 0, 0);
    DO(Comm_free, (&inter), 0, 0);
    DO(Comm_free, (&twin), 0, 0);
    DO(Comm_free, (&half), 0, 0);
}

static void one_sided(void) {
    MPI_Win window;
    int* memory = NULL;
    DO(Win_allocate, (100 * kInt, kInt, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window), 0, 0);
    DO(Win_fence, (0, window), 0, 0);
    DO(Put, (out, 5, MPI_INT, next, 0, 5, MPI_INT, window), 5 * kInt, 0);
    DO(Accumulate, (out, 4, MPI_INT, next, 10, 4, MPI_INT, MPI_SUM, window), 4 * kInt, 0);
    DO(Win_fence, (0, window), 0, 0);
    DO(Get, (in, 6, MPI_INT, previous, 0, 6, MPI_INT, window), 0, 6 * kInt);
    DO(Win_fence, (0, window), 0, 0);
    DO(Win_lock_all, (0, window), 0, 0);
    MPI_Request request;
    DO(Rput, (out, 3, MPI_INT, next, 20, 3, MPI_INT, window, &request), 3 * kInt, 0);
    DO(Wait, (&request, MPI_STATUS_IGNORE), 0, 0);
    DO(Fetch_and_op, (out, in, MPI_INT, next, 30, MPI_SUM, window), 0, kInt);
    DO(Win_flush, (next, window), 0, 0);
    DO(Win_unlock_all, (window), 0, 0);
    DO(Win_free, (&window), 0, 0);
}

static void files(const char* path) {
    MPI_File file;
    MPI_Status status;
    MPI_Request request;
    const MPI_Offset at = (MPI_Offset)rank * 100 * kInt;
    DO(File_open, (MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file), 0, 0);
    DO(File_write_at, (file, at, out, 100, MPI_INT, MPI_STATUS_IGNORE), 100 * kInt, 0);
    DO(File_sync, (file), 0, 0);
    DO(Barrier, (MPI_COMM_WORLD), 0, 0);
    DO(File_read_at_all, (file, at, in, 50, MPI_INT, &status), 0, 50 * kInt);
    DO(File_iread_at, (file, at, in, 25, MPI_INT, &request), 0, 25 * kInt);
    DO(Wait, (&request, &status), 0, 0);
    DO(File_close, (&file), 0, 0);
}

#if MPI_VERSION >= 4
/* Large counts, operations in parts, persistent collectives. */
static void version_4(MPI_Comm comm) {
    MPI_Request request, requests[2];
    MPI_Count counts[64];
    MPI_Aint displacements[64];
    DO(Irecv_c, (in, 99, MPI_INT, MPI_ANY_SOURCE, 51, comm, &request), 0, 6 * kInt);
    DO(Send_c, (out, 6, MPI_INT, next, 51, comm), 6 * kInt, 0);
    DO(Wait, (&request, MPI_STATUS_IGNORE), 0, 0);
    for (int i = 0; i < size; ++i) {
        counts[i] = 2;
        displacements[i] = 2 * i;
    }
    DO(Allgatherv_c, (out, 2, MPI_INT, in, counts, displacements, MPI_INT, comm), 2 * kInt, 2 * kInt * size);
    DO(Psend_init, (out, 4, 3, MPI_INT, next, 52, comm, MPI_INFO_NULL, &requests[0]), 0, 0);
    DO(Precv_init, (in, 4, 3, MPI_INT, previous, 52, comm, MPI_INFO_NULL, &requests[1]), 0, 0);
    DO(Startall, (2, requests), 12 * kInt, 12 * kInt);
    DO(Pready_range, (0, 3, requests[0]), 0, 0);
    DO(Waitall, (2, requests, MPI_STATUSES_IGNORE), 0, 0);
    DO(Request_free, (&requests[0]), 0, 0);
    DO(Request_free, (&requests[1]), 0, 0);
    DO(Allreduce_init, (out, in, 4, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &request), 0, 0);
    for (int i = 0; i < 3; ++i) {
        DO(Start, (&request), 4 * kInt, 4 * kInt);
        DO(Wait, (&request, MPI_STATUS_IGNORE), 0, 0);
    }
    DO(Request_free, (&request), 0, 0);
}
#else
static void version_4(MPI_Comm comm) { (void)comm; }
#endif

int main(int count, char** arguments) {
    DO(Init, (&count, &arguments), 0, 0);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    messages(MPI_COMM_WORLD);
    many_requests(MPI_COMM_WORLD);
    derived_types(MPI_COMM_WORLD);
    collectives(MPI_COMM_WORLD);
    topologies();
    communicators();
    one_sided();
    version_4(MPI_COMM_WORLD);
    if (count > 1)
        files(arguments[1]);
    DO(Finalize, (), 0, 0);
    print_tallies(rank);
    return 0;
}
