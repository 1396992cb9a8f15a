/* A program without MPI, written for both: it looks whether there is an MPI by a weak symbol. Nothing of what it finds
 * may make it crash. */
#include <stdio.h>

int MPI_Init(int*, char***) __attribute__((weak));
int MPI_Initialized(int*) __attribute__((weak));
int MPI_Barrier(long) __attribute__((weak));
int MPI_Finalize(void) __attribute__((weak));
void mpi_barrier_(int*, int*) __attribute__((weak));

int main(int count, char** arguments) {
    int error = 0, comm = 0;
    if (MPI_Initialized)
        puts("there is an MPI");
    if (MPI_Init && MPI_Init(&count, &arguments) != 0)
        puts("no MPI after all");
    if (MPI_Barrier)
        MPI_Barrier(0x44000000);
    if (mpi_barrier_)
        mpi_barrier_(&comm, &error);
    if (MPI_Finalize)
        MPI_Finalize();
    puts("done");
    return 0;
}
