/* Each rank works for itself; they meet a few times. The part of MPI in it lasts about a millisecond. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double sum = 0, total;
    for (int step = 0; step < 6; step++) {
        double own = 1.0 / (1 + rank + step);
        MPI_Allreduce(&own, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += total;
    }
    MPI_Finalize();
    double* field = new_field(50000);
    relax(field, 50000, 5000);
    printf("%g %g\n", sum, field[100]);
}
