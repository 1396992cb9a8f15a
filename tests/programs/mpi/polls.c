// Polls that find nothing, from one place that several lines call at the same depth of the stack, on two communicators.
#include <mpi.h>

static int flag;
static MPI_Request request;

__attribute__((noinline)) static int test(void) {
    MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    return flag + 1; // not a tail call
}

__attribute__((noinline)) static int probe(MPI_Comm comm) {
    MPI_Iprobe(MPI_ANY_SOURCE, 5, comm, &flag, MPI_STATUS_IGNORE);
    return flag + 1;
}

int main(void) {
    MPI_Comm twin;
    long buffer;
    int sum = 0;
    MPI_Init(0, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Irecv(&buffer, 1, MPI_LONG, 0, 7, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 8000; ++i) {
        sum += test();
        if (i % 2)
            sum += test();
        sum += probe(MPI_COMM_WORLD);
        sum += probe(twin);
        if (i % 4 == 0)
            sum += probe(i % 8 ? twin : MPI_COMM_WORLD);
    }
    MPI_Cancel(&request);
    MPI_Request_free(&request);
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return sum == 0;
}
