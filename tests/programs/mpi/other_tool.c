/* Another tool that sits between the program and MPI, as a library to be preloaded or linked: counts the calls of three
 * functions in C and in Fortran's usual spelling, passes them on to PMPI, and says at the end what it saw. */
#include <stdio.h>

/* Words, so that one library serves every MPI. */
typedef unsigned long Word;

int PMPI_Send(Word, Word, Word, Word, Word, Word);
int PMPI_Allreduce(Word, Word, Word, Word, Word, Word);
void pmpi_send_(Word, Word, Word, Word, Word, Word, Word) __attribute__((weak));

static int sends, reductions, fortran_sends;

int MPI_Send(Word buffer, Word count, Word type, Word to, Word tag, Word comm) {
    ++sends;
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Allreduce(Word from, Word into, Word count, Word type, Word op, Word comm) {
    ++reductions;
    return PMPI_Allreduce(from, into, count, type, op, comm);
}

void mpi_send_(Word buffer, Word count, Word type, Word to, Word tag, Word comm, Word error) {
    ++fortran_sends;
    pmpi_send_(buffer, count, type, to, tag, comm, error);
}

__attribute__((destructor)) static void report(void) {
    printf("other tool: %d sends, %d reductions, %d sends in Fortran\n", sends, reductions, fortran_sends);
    fflush(stdout);
}
