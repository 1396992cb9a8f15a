/* Arguments that are addresses of something else: MPI_IN_PLACE, MPI_BOTTOM, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, and derived
 * datatypes. Prints what each rank got, which the test knows. */
#include <mpi.h>
#include <stdio.h>

static int rank, size;

static char text[2000];
static int length;

static void line(const char* what, const int* numbers, int count) {
    length += sprintf(text + length, "%d %s", rank, what);
    for (int i = 0; i < count; ++i)
        length += sprintf(text + length, " %d", numbers[i]);
    length += sprintf(text + length, "\n");
}

/* All that the ranks have to say, by rank 0: some launchers mix up the lines of several. */
static void print_all(void) {
    static char all[16 * sizeof text];
    MPI_Gather(text, sizeof text, MPI_CHAR, all, sizeof text, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; ++i)
        fputs(all + (size_t)i * sizeof text, stdout);
}

static void in_place(void) {
    int values[16] = {rank + 1, 10 * (rank + 1)}, got[16];
    MPI_Request request;
    MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    line("allreduce", values, 2);
    values[0] = rank + 1;
    MPI_Reduce(rank == 1 ? MPI_IN_PLACE : values, rank == 1 ? values : got, 1, MPI_INT, MPI_MAX, 1, MPI_COMM_WORLD);
    if (rank == 1)
        line("reduce", values, 1);
    for (int i = 0; i < size; ++i)
        values[i] = i == rank ? rank + 1 : 0;
    if (rank == 0)
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
        MPI_Gather(values + rank, 1, MPI_INT, got, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        line("gather", values, size);
    for (int i = 0; i < size; ++i)
        values[i] = 100 + i;
    got[0] = -1;
    MPI_Scatter(values, 1, MPI_INT, rank == 0 ? MPI_IN_PLACE : got, 1, MPI_INT, 0, MPI_COMM_WORLD);
    line("scatter", got, 1);
    for (int i = 0; i < size; ++i)
        values[i] = i == rank ? rank + 1 : 0;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_INT, MPI_COMM_WORLD);
    line("allgather", values, size);
    for (int i = 0; i < size; ++i)
        values[i] = 10 * rank + i;
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, values, 1, MPI_INT, MPI_COMM_WORLD);
    line("alltoall", values, size);
    values[0] = rank + 1;
    MPI_Scan(MPI_IN_PLACE, values, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    line("scan", values, 1);
    for (int i = 0; i < size; ++i)
        values[i] = (i + 1) * (rank + 1);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, values, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    line("reduce_scatter_block", values, 1);
    values[0] = rank + 5;
    MPI_Iallreduce(MPI_IN_PLACE, values, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    line("iallreduce", values, 1);
}

static void bottom(void) {
    int numbers[2] = {rank == 0 ? 11 : 0, rank == 0 ? 22 : 0}, values[4], lengths[2] = {2, 2};
    double reals[2] = {rank == 0 ? 1.5 : 0, rank == 0 ? 2.5 : 0};
    MPI_Aint places[2];
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, record;
    MPI_Request request;
    MPI_Get_address(numbers, &places[0]);
    MPI_Get_address(reals, &places[1]);
    MPI_Type_create_struct(2, lengths, places, types, &record);
    MPI_Type_commit(&record);
    MPI_Bcast(MPI_BOTTOM, 1, record, 0, MPI_COMM_WORLD);
    values[0] = numbers[0];
    values[1] = numbers[1];
    values[2] = (int)(2 * reals[0]);
    values[3] = (int)(2 * reals[1]);
    line("bottom", values, 4);
    if (rank == 0) {
        numbers[0]++;
        numbers[1]++;
        MPI_Send(MPI_BOTTOM, 1, record, size - 1, 5, MPI_COMM_WORLD);
    } else if (rank == size - 1) {
        MPI_Irecv(MPI_BOTTOM, 1, record, 0, 5, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        line("from bottom", numbers, 2);
    }
    MPI_Type_free(&record);
}

static void derived(int next, int previous) {
    double matrix[4][4], got[4];
    int values[4];
    MPI_Datatype column;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            matrix[i][j] = 10 * rank + i + 1;
    MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(&matrix[0][1], 1, column, next, 6, got, 4, MPI_DOUBLE, previous, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
    for (int i = 0; i < 4; ++i)
        values[i] = (int)got[i];
    line("column", values, 4);
}

static void statuses(int next, int previous) {
    int values[3] = {rank, rank, rank}, got[16], said[3], counts[2], flag = 0;
    MPI_Request requests[4];
    MPI_Status status, several[4];
    MPI_Isend(values, 3, MPI_INT, next, 7, MPI_COMM_WORLD, requests);
    MPI_Recv(got, 16, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Wait(requests, MPI_STATUS_IGNORE);
    said[0] = status.MPI_SOURCE;
    said[1] = status.MPI_TAG;
    MPI_Get_count(&status, MPI_INT, &said[2]);
    line("status", said, 3);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Irecv(got, 2, MPI_INT, MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(got + 4, 4, MPI_INT, previous, 9, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(values, 1, MPI_INT, next, 8, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(values, 3, MPI_INT, next, 9, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, several);
    for (int i = 0; i < 2; ++i)
        MPI_Get_count(&several[i], MPI_INT, &counts[i]);
    line("statuses", counts, 2);
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, previous, 11, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(values, 1, MPI_INT, next, 10, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(values, 1, MPI_INT, next, 11, MPI_COMM_WORLD, &requests[3]);
    while (!flag)
        MPI_Testall(4, requests, &flag, MPI_STATUSES_IGNORE);
    line("ignored", got, 2);
}

/* Rejected, and how; and calls that no tool is meant to see. */
static void rejected(void) {
    int value = 0, classes[2], said[2];
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_SELF), &classes[0]);
    MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, 999, MPI_COMM_SELF), &classes[1]);
    said[0] = classes[0] == MPI_ERR_COUNT;
    said[1] = classes[1] == MPI_ERR_ROOT;
    line("rejected", said, 2);
    for (int i = 0; i < 3; ++i)
        PMPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    in_place();
    bottom();
    derived(next, previous);
    statuses(next, previous);
    rejected();
    print_all();
    MPI_Finalize();
    return 0;
}
