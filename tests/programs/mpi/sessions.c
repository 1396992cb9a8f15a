/* MPI without MPI_Init: a communicator made from a session's processes. Counts what it does as tally.h describes. */
#include "tally.h"

#include <mpi.h>

int main(void) {
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int one = 1, sum = 0, rank = 0;
    DO(Session_init, (MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session), 0, 0);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    DO(Comm_create_from_group, (group, "plumb", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm), 0, 0);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    DO(Allreduce, (&one, &sum, 1, MPI_INT, MPI_SUM, comm), sizeof(int), sizeof(int));
    if (rank == 0)
        DO(Send, (&one, 1, MPI_INT, 1, 3, comm), sizeof(int), 0);
    if (rank == 1)
        DO(Recv, (&sum, 1, MPI_INT, 0, 3, comm, MPI_STATUS_IGNORE), 0, sizeof(int));
    DO(Comm_free, (&comm), 0, 0);
    DO(Session_finalize, (&session), 0, 0);
    print_tallies(rank);
#else
    puts("no sessions");
#endif
    return 0;
}
