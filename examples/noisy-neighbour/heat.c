// A rod cools: each rank has a part of it, exchanges borders with its neighbours and checks after each step how much changed.
// A step takes about a millisecond.
//
// usage: heat [STEPS [EVERY]]    prints a line every so many steps
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { cells = 4096, sweeps = 100 };

static double now[cells + 2], next[cells + 2];

static double sweep(void) {
    double most = 0;
    for (int i = 1; i <= cells; i++) {
        next[i] = now[i] + 0.25 * (now[i - 1] - 2 * now[i] + now[i + 1]);
        most = fmax(most, fabs(next[i] - now[i]));
    }
    for (int i = 1; i <= cells; i++)
        now[i] = next[i];
    return most;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int steps = argc > 1 ? atoi(argv[1]) : 4000, every = argc > 2 ? atoi(argv[2]) : 0;
    const int left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    for (int i = 1; i <= cells; i++)
        now[i] = sin(0.001 * (rank * cells + i));
    const double begin = MPI_Wtime();
    double changed = 0;
    for (int step = 0; step < steps; step++) {
        MPI_Sendrecv(&now[1], 1, MPI_DOUBLE, left, 0, &now[cells + 1], 1, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Sendrecv(&now[cells], 1, MPI_DOUBLE, right, 1, &now[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double most = 0;
        for (int i = 0; i < sweeps; i++)
            most = sweep();
        MPI_Allreduce(&most, &changed, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (rank == 0 && every > 0 && (step + 1) % every == 0) {
            printf("step %d\n", step + 1);
            fflush(stdout);
        }
    }
    const double seconds = MPI_Wtime() - begin;
    if (rank == 0)
        printf("%d steps, last change %.3g, %.3f ms a step\n", steps, changed, 1e3 * seconds / steps);
    MPI_Finalize();
    return 0;
}
