/* The cure in the code: thread t of rank r of a node pins itself to relative CPU SPACING * (THREADS * r + t), and takes its
   memory from there, before it touches any. Which rank it is the launcher tells: with MPI, ask for the rank on the node
   (MPI_Comm_split_type with MPI_COMM_TYPE_SHARED). */
#include <plumb/plumb.h>
#define PLACE(thread) place(thread)
static void place(int thread);
#include "forecast.h"

static int number_from(const char* variable, int otherwise) {
    const char* text = getenv(variable);
    return text ? atoi(text) : otherwise;
}

static void place(int thread) {
    const int rank = number_from("OMPI_COMM_WORLD_LOCAL_RANK", number_from("MPI_LOCALRANKID", number_from("SLURM_LOCALID", 0)));
    const int error = plumb_pin(number_from("SPACING", 1) * (number_from("THREADS", 1) * rank + thread));
    if (error != 0) {
        errno = error;
        give_up("plumb_pin");
    }
}
