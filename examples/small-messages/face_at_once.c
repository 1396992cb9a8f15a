/* The halo is exchanged where it is needed: once for each field that is differentiated along y, after it has changed, and
   as one message to each neighbour. Usage: mpirun -n RANKS wave-face-at-once [steps]; RANKS must divide 48. */
#include "wave.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

typedef double face[n][n];

static void pack(const struct slab* slab, const double* field, int y, face to) {
    for (int x = 0; x < n; ++x)
        memcpy(to[x], field + row(slab, x, y), sizeof to[x]);
}

static void unpack(const struct slab* slab, double* field, int y, face from) {
    for (int x = 0; x < n; ++x)
        memcpy(field + row(slab, x, y), from[x], sizeof from[x]);
}

static void exchange_faces(const struct slab* slab, double* field) {
    static face first, last, from_below, from_above;
    MPI_Request requests[4];
    MPI_Irecv(from_below, n * n, MPI_DOUBLE, slab->below, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(from_above, n * n, MPI_DOUBLE, slab->above, 1, MPI_COMM_WORLD, &requests[1]);
    pack(slab, field, slab->width, last);
    MPI_Isend(last, n * n, MPI_DOUBLE, slab->above, 0, MPI_COMM_WORLD, &requests[2]);
    pack(slab, field, 1, first);
    MPI_Isend(first, n * n, MPI_DOUBLE, slab->below, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    unpack(slab, field, 0, from_below);
    unpack(slab, field, slab->width + 1, from_above);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const long steps = argument_or(argc, argv, 1, 5000);
    if (n % size) {
        if (rank == 0)
            fprintf(stderr, "%d ranks do not divide the %d points along y\n", size, n);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    const struct slab slab = {n / size, (rank + size - 1) % size, (rank + 1) % size};
    double* field[fields]; /* p, and d along x, y and z */
    for (int f = 0; f < fields; ++f)
        field[f] = calloc(slab_size(&slab), sizeof(double));
    fill(&slab, rank, field[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long step = 0; step < steps; ++step) {
        exchange_faces(&slab, field[0]);
        for (int direction = along_x; direction <= along_z; ++direction)
            add_differences(&slab, field[0], (enum direction)direction, 0.2, field[1 + direction]);
        exchange_faces(&slab, field[1 + along_y]);
        for (int direction = along_x; direction <= along_z; ++direction)
            add_differences(&slab, field[1 + direction], (enum direction)direction, 0.2, field[0]);
    }
    const double seconds = MPI_Wtime() - begin;
    double own = 0, sum = 0;
    for (int f = 0; f < fields; ++f) {
        own += energy(&slab, field[f]);
        free(field[f]);
    }
    MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("energy %.9e after %ld steps\n%.3f seconds\n", sum, steps, seconds);
    MPI_Finalize();
    return 0;
}
