/* Rank 0 collects measurements of all ranks. Planted: value by value. Cured: all values of a step at once. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

enum { VALUES = 200 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double* field = new_field(10000);
    double* all = malloc(sizeof(double) * VALUES * (size_t)size);
    double total = 0;
    for (int step = 0; step < 12000; step++) {
        relax(field, 10000, 3);
#ifdef CURED
        MPI_Gather(field + 1, VALUES, MPI_DOUBLE, all, VALUES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
#else
        for (int i = 0; i < VALUES; i++)
            MPI_Gather(field + 1 + i, 1, MPI_DOUBLE, all + i * size, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* planted: gathers */
#endif
        total += all[step % VALUES];
    }
    if (rank == 0)
        printf("%g\n", total);
    MPI_Finalize();
}
