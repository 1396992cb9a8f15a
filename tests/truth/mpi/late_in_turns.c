/* Each rank has a little more to do in some steps, none more often than the others. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double* field = new_field(40000);
    double total = 0;
    for (int step = 0; step < 1500; step++) {
        relax(field, 40000 + (step % size == rank ? 1200 : 0) - 1200, 5);
        double value = field[step];
        MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", total);
    MPI_Finalize();
}
