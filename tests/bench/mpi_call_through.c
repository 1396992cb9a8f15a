// The least that any interposing tool costs an MPI call: functions that only call what they stand in front of. With
// -DCLOCK_READS also the least that any profiler costs: the time stamp counter before and after, and the time between kept.
#include <mpi.h>

#ifdef CLOCK_READS
#include <x86intrin.h>
static volatile unsigned long long in_calls;
#define CALL(call)                                                                                                             \
    const unsigned long long begin = __rdtsc();                                                                                \
    const int error = (call);                                                                                                  \
    in_calls = in_calls + (__rdtsc() - begin);                                                                                 \
    return error
#else
#define CALL(call) return call
#endif

int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
    CALL(PMPI_Iprobe(source, tag, comm, flag, status));
}
int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) { CALL(PMPI_Test(request, flag, status)); }
int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    CALL(PMPI_Send(buffer, count, type, to, tag, comm));
}
int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
    CALL(PMPI_Isend(buffer, count, type, to, tag, comm, request));
}
int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
    CALL(PMPI_Recv(buffer, count, type, from, tag, comm, status));
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) { CALL(PMPI_Wait(request, status)); }
int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    CALL(PMPI_Allreduce(in, out, count, type, op, comm));
}
