/* Four ranks. Planted: two of them check their part of the field in every step. Cured: no part is checked but the last
   step's. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

static double checked(const double* field, int cells) {
    double worst = 0;
    for (int pass = 0; pass < 12; pass++)
        for (int i = 1; i < cells; i++)
            worst = fmax(worst, fabs(field[i] - 0.999 * field[i - 1]) / (1 + worst)); /* planted: check */
    return worst;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *field = new_field(20000), total = 0;
    for (int step = 0; step < 300; step++) {
        relax(field, 20000, 10);
        double value = field[step];
#ifdef CURED
        if (rank >= 2 && step == 299)
#else
        if (rank >= 2)
#endif
            value += checked(field, 20000);
        MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", total);
    MPI_Finalize();
}
