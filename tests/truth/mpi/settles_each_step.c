/* Rank 1 reads an instrument. Planted: it gives the instrument time to settle before each step. Cured: it does not, as the
   instrument says when it is ready. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#include "field.h"

static void settle(void) {
    const struct timespec pause = {0, 1500000};
    nanosleep(&pause, NULL); /* planted: settle */
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double* field = new_field(30000);
    double total = 0;
    for (int step = 0; step < 500; step++) {
        relax(field, 30000, 10);
#ifndef CURED
        if (rank == 1)
            settle();
#endif
        double value = field[step];
        MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", total);
    MPI_Finalize();
}
