/* Asks by weak symbols which functions the MPI library has, as programs do that are built once for several libraries. */
#include <stdio.h>

int MPI_Init(int*, char***);
int MPI_Finalize(void);
int MPI_Send_c(void) __attribute__((weak));
int MPI_Session_init(void) __attribute__((weak));
int MPI_Isendrecv(void) __attribute__((weak));
int MPI_Buffer_iflush(void) __attribute__((weak));
int MPIX_Barrier_init(void) __attribute__((weak));
int MPI_Mprobe(void) __attribute__((weak));

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    printf("MPI_Send_c %d\nMPI_Session_init %d\nMPI_Isendrecv %d\nMPI_Buffer_iflush %d\nMPIX_Barrier_init %d\nMPI_Mprobe %d\n",
           MPI_Send_c != NULL, MPI_Session_init != NULL, MPI_Isendrecv != NULL, MPI_Buffer_iflush != NULL,
           MPIX_Barrier_init != NULL, MPI_Mprobe != NULL);
    return MPI_Finalize();
}
