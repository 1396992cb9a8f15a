/* Calls that MPI rejects, under MPI_ERRORS_RETURN: prints what each returned. One rank is enough. */
#include <mpi.h>
#include <stdio.h>

static void print(const char* what, int code) {
    int class = -1;
    MPI_Error_class(code, &class);
    printf("%s: code %d, class %d\n", what, code, class);
}

int main(int count, char** arguments) {
    int data[64] = {0}, got[64] = {0};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Init(&count, &arguments);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    print("send to nobody", MPI_Send(data, 1, MPI_INT, 999, 0, MPI_COMM_SELF));
    print("send less than nothing", MPI_Send(data, -1, MPI_INT, 0, 0, MPI_COMM_SELF));
    print("send with a null type", MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 0, MPI_COMM_SELF));
    print("send on a null communicator", MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_NULL));
    print("receive from nobody", MPI_Recv(data, 1, MPI_INT, 999, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    print("start receiving from nobody", MPI_Irecv(data, 1, MPI_INT, 999, 0, MPI_COMM_SELF, requests));
    print("broadcast from nobody", MPI_Bcast(data, 1, MPI_INT, 999, MPI_COMM_SELF));
    print("reduce without operation", MPI_Allreduce(data, got, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF));
    print("probe nobody", MPI_Probe(999, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));

    /* Messages that are longer than the room for them. */
    MPI_Isend(data, 8, MPI_INT, 0, 1, MPI_COMM_SELF, requests);
    print("truncated receive", MPI_Recv(got, 2, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    MPI_Irecv(got, 2, MPI_INT, 0, 2, MPI_COMM_SELF, requests);
    MPI_Isend(data, 8, MPI_INT, 0, 2, MPI_COMM_SELF, requests + 1);
    print("truncated, wait", MPI_Wait(requests, MPI_STATUS_IGNORE));
    MPI_Wait(requests + 1, MPI_STATUS_IGNORE);
    MPI_Irecv(got, 2, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_SELF, requests);
    MPI_Isend(data, 8, MPI_INT, 0, 3, MPI_COMM_SELF, requests + 1);
    print("truncated, wait for all without statuses", MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    MPI_Irecv(got, 2, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_SELF, requests);
    MPI_Isend(data, 8, MPI_INT, 0, 4, MPI_COMM_SELF, requests + 1);
    print("truncated, wait for all", MPI_Waitall(2, requests, statuses));
    print("truncated, first status", statuses[0].MPI_ERROR);
    MPI_Comm copy;
    print("copy of nothing", MPI_Comm_dup(MPI_COMM_NULL, &copy));
    printf("finalize: %d\n", MPI_Finalize());
    return 0;
}
