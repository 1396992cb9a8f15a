/* Every call of derivative() makes the halo valid, whether the derivative needs it or not, and sends each row of it as a
   message of its own. Usage: mpirun -n RANKS wave-row-by-row [steps]; RANKS must divide 48. */
#include "wave.h"

#include <mpi.h>
#include <stdio.h>

static void exchange_rows(const struct slab* slab, double* field) {
    MPI_Request requests[4 * n];
    int count = 0;
    for (int x = 0; x < n; ++x) {
        double *below = field + row(slab, x, 0), *above = field + row(slab, x, slab->width + 1);
        MPI_Irecv(below, n, MPI_DOUBLE, slab->below, 2 * x, MPI_COMM_WORLD, &requests[count++]);
        MPI_Irecv(above, n, MPI_DOUBLE, slab->above, 2 * x + 1, MPI_COMM_WORLD, &requests[count++]);
    }
    for (int x = 0; x < n; ++x) {
        const double *first = field + row(slab, x, 1), *last = field + row(slab, x, slab->width);
        MPI_Isend(last, n, MPI_DOUBLE, slab->above, 2 * x, MPI_COMM_WORLD, &requests[count++]);
        MPI_Isend(first, n, MPI_DOUBLE, slab->below, 2 * x + 1, MPI_COMM_WORLD, &requests[count++]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void derivative(const struct slab* slab, double* field, enum direction direction, double step,
                       double* sum) {
    exchange_rows(slab, field);
    add_differences(slab, field, direction, step, sum);
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
        for (int direction = along_x; direction <= along_z; ++direction)
            derivative(&slab, field[0], (enum direction)direction, 0.2, field[1 + direction]);
        for (int direction = along_x; direction <= along_z; ++direction)
            derivative(&slab, field[1 + direction], (enum direction)direction, 0.2, field[0]);
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
