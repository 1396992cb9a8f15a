/* What the standard ABI of MPI-5 fixes, as far as the library and the program beside this file need it: handles are
 * pointers with small values, a status is eight ints. */
#ifndef PLUMB_TEST_ABI_MPI_H
#define PLUMB_TEST_ABI_MPI_H

typedef struct Opaque* MPI_Comm;
typedef struct Opaque* MPI_Datatype;
typedef struct Opaque* MPI_Group;
typedef struct Opaque* MPI_Op;
typedef struct Opaque* MPI_Request;
typedef long MPI_Count;
typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, internal[5];
} MPI_Status;

#define MPI_COMM_NULL ((MPI_Comm)0x100)
#define MPI_COMM_WORLD ((MPI_Comm)0x101)
#define MPI_COMM_SELF ((MPI_Comm)0x102)
#define MPI_SUM ((MPI_Op)0x21)
#define MPI_REQUEST_NULL ((MPI_Request)0x180)
#define MPI_INT ((MPI_Datatype)0x209)
#define MPI_BYTE ((MPI_Datatype)0x247)
#define MPI_IN_PLACE ((void*)1)
#define MPI_STATUS_IGNORE ((MPI_Status*)0)
#define MPI_STATUSES_IGNORE ((MPI_Status*)0)
enum { MPI_SUCCESS = 0, MPI_ERR_TRUNCATE = 14, MPI_ANY_SOURCE = -1, MPI_ANY_TAG = -2, MPI_PROC_NULL = -3 };

int MPI_Init(int*, char***);
int MPI_Finalize(void);
int MPI_Comm_dup(MPI_Comm, MPI_Comm*);
int MPI_Comm_free(MPI_Comm*);
int MPI_Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
int MPI_Send_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
int MPI_Recv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
int MPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
int MPI_Wait(MPI_Request*, MPI_Status*);
int MPI_Waitall(int, MPI_Request*, MPI_Status*);
int MPI_Barrier(MPI_Comm);
int MPI_Allreduce(const void*, void*, int, MPI_Datatype, MPI_Op, MPI_Comm);

#endif
