/* A sweep in one direction over strips of a field: each rank needs the last line of the rank before. Planted: it hands its
   own on when its whole strip is done. Cured: after each block of columns. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

#ifdef CURED
enum { BLOCKS = 20 };
#else
enum { BLOCKS = 1 };
#endif
enum { COLUMNS = 2000 };

static void sweep(double* strip, int rank, int size) {
    for (int block = 0; block < BLOCKS; block++) {
        double* part = strip + block * (COLUMNS / BLOCKS);
        if (rank > 0)
            MPI_Recv(part, COLUMNS / BLOCKS, MPI_DOUBLE, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* planted: wavefront */
        relax(part, COLUMNS / BLOCKS, 150);
        if (rank < size - 1)
            MPI_Send(part, COLUMNS / BLOCKS, MPI_DOUBLE, rank + 1, 3, MPI_COMM_WORLD);
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double* strip = new_field(COLUMNS);
    double total = 0;
    for (int step = 0; step < 600; step++) {
        sweep(strip, rank, size);
        double value = strip[7];
        MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* planted: wavefront */
    }
    if (rank == 0)
        printf("%g\n", total);
    MPI_Finalize();
}
