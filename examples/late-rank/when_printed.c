/* The probe is asked only in the cycles whose line is printed. Usage: mpirun -n RANKS probe-when-printed [cycles] */
#include "gas.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const long cycles = argument_or(argc, argv, 1, 4000);
    struct gas gas = make_gas(rank);
    double step = 0.001, seen = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long cycle = 1; cycle <= cycles; ++cycle) {
        const double allowed = advance(gas, step);
        const bool prints = rank == size - 1 && cycle % line_every == 0;
        if (prints)
            seen = seen_by_probe(gas);
        MPI_Allreduce(&allowed, &step, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
        if (prints)
            printf("cycle %ld: step %.6e, the probe sees %.6e\n", cycle, step, seen);
    }
    if (rank == size - 1)
        printf("%.3f seconds\n", MPI_Wtime() - begin);
    free_gas(gas);
    MPI_Finalize();
    return 0;
}
