/* A field in strips of equal size, whose borders go to the neighbours in every step. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    double* field = new_field(60000);
    double total = 0;
    for (int step = 0; step < 2000; step++) {
        relax(field, 60000, 2);
        MPI_Sendrecv(field + 1, 1024, MPI_DOUBLE, up, 1, field + 59000, 1024, MPI_DOUBLE, down, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        MPI_Sendrecv(field + 58000, 1024, MPI_DOUBLE, down, 2, field, 1024, MPI_DOUBLE, up, 2, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (step % 50 == 0)
            MPI_Allreduce(&field[9], &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", total);
    MPI_Finalize();
}
