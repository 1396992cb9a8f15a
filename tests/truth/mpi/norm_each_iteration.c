/* An iteration that ends when the change is small. Planted: the ranks meet after each sweep to see whether it is. Cured:
   after every hundredth. The sweeps of a rank take longer now and then, as its part of the field needs more terms. */
#include <mpi.h>
#include <stdio.h>

#include "field.h"

#ifdef CURED
enum { SEEN_EVERY = 100 };
#else
enum { SEEN_EVERY = 1 };
#endif

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double* field = new_field(8000);
    double change = 1;
    unsigned state = 17u + 1000u * (unsigned)rank;
    for (int sweep = 1; sweep <= 40000; sweep++) {
        state = state * 1664525u + 1013904223u;
        relax(field, 2000 + (int)(state >> 18) % 6000, 2);
        if (sweep % SEEN_EVERY == 0) {
            const double own = fabs(field[1000] - field[999]);
            MPI_Allreduce(&own, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD); /* planted: norm */
        }
    }
    if (rank == 0)
        printf("%g\n", change);
    MPI_Finalize();
}
