/* Rank 0 keeps a journal of every step. Planted: it is on disk before the step ends. Cured: it is written, and brought to
   disk at the end. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "field.h"

static void note(int journal, int step, double total) {
    static char line[4096];
    memset(line, '.', sizeof line);
    snprintf(line, sizeof line, "%d %g", step, total);
    if (write(journal, line, sizeof line) < 0)
        perror("journal");
#ifndef CURED
    fsync(journal); /* planted: journal */
#endif
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int journal = rank == 0 ? open("journal", O_CREAT | O_TRUNC | O_WRONLY, 0644) : -1;
    double* field = new_field(30000);
    double total = 0;
    for (int step = 0; step < 1500; step++) {
        relax(field, 30000, 5);
        double value = field[step];
        MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0)
            note(journal, step, total);
    }
    if (rank == 0) {
        fsync(journal);
        printf("%g\n", total);
    }
    MPI_Finalize();
}
