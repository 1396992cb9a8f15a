/* A pipeline: each rank works on one block while the next works on the block before. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

enum { CELLS = 4000, BLOCKS = 2000 };

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double* block = new_field(CELLS);
    for (int i = 0; i < BLOCKS; i++) {
        if (rank > 0)
            MPI_Recv(block, CELLS, MPI_DOUBLE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        relax(block, CELLS, 60);
        if (rank < size - 1)
            MPI_Send(block, CELLS, MPI_DOUBLE, rank + 1, 1, MPI_COMM_WORLD);
    }
    double total, own = block[11];
    MPI_Reduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%g\n", total);
    MPI_Finalize();
}
