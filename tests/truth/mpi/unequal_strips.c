/* A field cut into strips. Planted: the last rank has two and a half times as many cells as the others. Cured: all have
   the same number. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int all = 35000 * size;
#ifdef CURED
    const int cells = all / size;
#else
    const int share = (int)(all / (size + 1.5)), cells = rank == size - 1 ? all - (size - 1) * share : share;
#endif
    double* field = new_field(cells);
    double total = 0;
    for (int step = 0; step < 4000; step++) {
        relax(field, cells, 2);
        double sum = field[cells / 2];
        MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", total);
    MPI_Finalize();
}
