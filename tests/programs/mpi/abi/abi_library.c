/* An MPI library of one process that keeps to the standard ABI of MPI-5 (or, with PLUMB_TEST_UNKNOWN_MPI, to nothing that
 * anybody knows): enough to send messages to oneself. What it does is real; errors are not looked for. */
#include "abi_mpi.h"

#include <string.h>

/* PMPI_name, and MPI_name as another name of it. */
#define FUNCTION(name, parameters)                                                                           \
    int PMPI_##name parameters;                                                                              \
    int MPI_##name parameters __attribute__((weak, alias("PMPI_" #name)));                                   \
    int PMPI_##name parameters

enum { kMessages = 64, kRoom = 4096, kFirstRequest = 0x10000 };

static struct {
    int used, tag;
    long bytes;
    char data[kRoom];
} messages[kMessages]; /* sent, not yet received; in their order */

static struct {
    int used, tag;
    void* into; /* null: a send, complete already */
    long room;
} requests[kMessages];

static long comms = 0x1000;

static long size_of(MPI_Datatype type) { return type == MPI_INT ? sizeof(int) : 1; }

static void fill(MPI_Status* status, int tag, long bytes) {
    if (status == MPI_STATUS_IGNORE)
        return;
    memset(status, 0x5a, sizeof *status);
    status->MPI_SOURCE = 0;
    status->MPI_TAG = tag;
    status->internal[0] = (int)bytes;
    status->internal[1] = 0; /* not cancelled */
}

static void send(const void* data, long bytes, int tag) {
    for (int i = 0; i < kMessages; ++i)
        if (!messages[i].used) {
            messages[i].used = 1;
            messages[i].tag = tag;
            messages[i].bytes = bytes;
            memcpy(messages[i].data, data, (size_t)bytes);
            return;
        }
}

static int receive(void* into, long room, int tag, MPI_Status* status) {
    for (int i = 0; i < kMessages; ++i)
        if (messages[i].used && (tag == MPI_ANY_TAG || tag == messages[i].tag)) {
            messages[i].used = 0;
            if (messages[i].bytes > room)
                return MPI_ERR_TRUNCATE;
            memcpy(into, messages[i].data, (size_t)messages[i].bytes);
            fill(status, messages[i].tag, messages[i].bytes);
            memmove(&messages[i], &messages[i + 1], (size_t)(kMessages - 1 - i) * sizeof messages[0]);
            messages[kMessages - 1].used = 0;
            return MPI_SUCCESS;
        }
    return MPI_ERR_TRUNCATE; /* nothing can ever arrive: the program is wrong */
}

static MPI_Request request(int tag, void* into, long room) {
    int i = 0;
    while (requests[i].used)
        ++i;
    requests[i].used = 1;
    requests[i].tag = tag;
    requests[i].into = into;
    requests[i].room = room;
    return (MPI_Request)(long)(kFirstRequest + i);
}

#ifndef PLUMB_TEST_UNKNOWN_MPI
FUNCTION(Abi_get_version, (int* major, int* minor)) {
    *major = 1;
    *minor = 0;
    return MPI_SUCCESS;
}
#endif

FUNCTION(Get_library_version, (char* text, int* length)) {
    strcpy(text, "test library of the standard ABI");
    *length = (int)strlen(text);
    return MPI_SUCCESS;
}

FUNCTION(Init, (int* count, char*** arguments)) {
    (void)count;
    (void)arguments;
    return MPI_SUCCESS;
}

FUNCTION(Finalize, (void)) { return MPI_SUCCESS; }

FUNCTION(Query_thread, (int* level)) {
    *level = 4096; /* MPI_THREAD_MULTIPLE */
    return MPI_SUCCESS;
}

FUNCTION(Comm_rank, (MPI_Comm comm, int* rank)) {
    (void)comm;
    *rank = 0;
    return MPI_SUCCESS;
}

FUNCTION(Comm_size, (MPI_Comm comm, int* size)) {
    (void)comm;
    *size = 1;
    return MPI_SUCCESS;
}

FUNCTION(Comm_remote_size, (MPI_Comm comm, int* size)) {
    (void)comm;
    *size = 0;
    return MPI_SUCCESS;
}

FUNCTION(Comm_test_inter, (MPI_Comm comm, int* flag)) {
    (void)comm;
    *flag = 0;
    return MPI_SUCCESS;
}

FUNCTION(Comm_group, (MPI_Comm comm, MPI_Group* group)) {
    (void)comm;
    *group = (MPI_Group)0x2000;
    return MPI_SUCCESS;
}

FUNCTION(Comm_remote_group, (MPI_Comm comm, MPI_Group* group)) {
    (void)comm;
    *group = (MPI_Group)0x109;
    return MPI_SUCCESS;
}

FUNCTION(Group_size, (MPI_Group group, int* size)) {
    *size = group == (MPI_Group)0x2000;
    return MPI_SUCCESS;
}

FUNCTION(Group_translate_ranks, (MPI_Group from, int count, const int* ranks, MPI_Group to, int* translated)) {
    (void)from;
    (void)to;
    memcpy(translated, ranks, (size_t)count * sizeof *ranks);
    return MPI_SUCCESS;
}

FUNCTION(Group_free, (MPI_Group * group)) {
    *group = (MPI_Group)0x108;
    return MPI_SUCCESS;
}

FUNCTION(Type_size, (MPI_Datatype type, int* size)) {
    *size = (int)size_of(type);
    return MPI_SUCCESS;
}

FUNCTION(Get_count_c, (const MPI_Status* status, MPI_Datatype type, MPI_Count* count)) {
    *count = status->internal[0] / size_of(type);
    return MPI_SUCCESS;
}

FUNCTION(Test_cancelled, (const MPI_Status* status, int* flag)) {
    *flag = status->internal[1];
    return MPI_SUCCESS;
}

FUNCTION(Comm_dup, (MPI_Comm comm, MPI_Comm* copy)) {
    (void)comm;
    *copy = (MPI_Comm)comms++;
    return MPI_SUCCESS;
}

FUNCTION(Comm_free, (MPI_Comm * comm)) {
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

FUNCTION(Send, (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)) {
    (void)comm;
    if (to != MPI_PROC_NULL)
        send(data, count * size_of(type), tag);
    return MPI_SUCCESS;
}

FUNCTION(Send_c, (const void* data, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm)) {
    return PMPI_Send(data, (int)count, type, to, tag, comm);
}

FUNCTION(Recv, (void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status)) {
    (void)comm;
    return from == MPI_PROC_NULL ? MPI_SUCCESS : receive(into, count * size_of(type), tag, status);
}

FUNCTION(Isend, (const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* made)) {
    *made = request(tag, 0, 0);
    return PMPI_Send(data, count, type, to, tag, comm);
}

FUNCTION(Irecv, (void* into, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* made)) {
    (void)from;
    (void)comm;
    *made = request(tag, into, count * size_of(type));
    return MPI_SUCCESS;
}

FUNCTION(Wait, (MPI_Request * made, MPI_Status* status)) {
    const int i = (int)((long)*made - kFirstRequest);
    *made = MPI_REQUEST_NULL;
    if (i < 0 || i >= kMessages)
        return MPI_SUCCESS;
    requests[i].used = 0;
    if (requests[i].into)
        return receive(requests[i].into, requests[i].room, requests[i].tag, status);
    fill(status, requests[i].tag, 0);
    return MPI_SUCCESS;
}

FUNCTION(Waitall, (int count, MPI_Request* made, MPI_Status* statuses)) {
    for (int i = 0; i < count; ++i)
        PMPI_Wait(&made[i], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i]);
    return MPI_SUCCESS;
}

FUNCTION(Barrier, (MPI_Comm comm)) {
    (void)comm;
    return MPI_SUCCESS;
}

FUNCTION(Allreduce, (const void* from, void* into, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)) {
    (void)op;
    (void)comm;
    if (from != MPI_IN_PLACE)
        memcpy(into, from, (size_t)(count * size_of(type)));
    return MPI_SUCCESS;
}
