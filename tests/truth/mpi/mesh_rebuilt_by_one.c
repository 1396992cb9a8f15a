/* Every twelfth step rank 1 rebuilds a mesh. Planted: for all ranks. Cured: each rank rebuilds its part of it. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

static void rebuild(double* mesh, int first, int end) {
    for (int pass = 0; pass < 30; pass++)
        for (int i = first; i < end; i++)
            mesh[i] = sqrt(mesh[i] * mesh[i] + 1e-3 * i); /* planted: mesh */
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *field = new_field(20000), *mesh = new_field(60000), total = 0;
    for (int step = 0; step < 1200; step++) {
        relax(field, 20000, 6);
        if (step % 12 == 11) {
#ifdef CURED
            rebuild(mesh, rank * (60000 / size), (rank + 1) * (60000 / size));
#else
            if (rank == 1)
                rebuild(mesh, 0, 60000);
#endif
        }
        double value = field[step] + mesh[5];
        MPI_Allreduce(&value, &total, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", total);
    MPI_Finalize();
}
