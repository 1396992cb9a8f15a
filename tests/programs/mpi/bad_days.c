// Jobs that do not end well, or are unusual. usage: bad_days WHAT [COUNT]
//   many COUNT: so many barriers and messages with ever new tags; rank 1 has twice as many messages, with itself
//   kill, abort, exit: rank 1 ends in this way in the middle while rank 0 waits for it
//   silent: some calls between MPI_Pcontrol(0) and MPI_Pcontrol(1)
//   around: barriers called as PMPI_Barrier beside others that are not
//   spawn: starts two more of itself and talks to them
//   fork: a child of each rank exits by itself
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

static void many(int count) {
    int in = 0;
    for (int i = 0; i < count; ++i) {
        MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, i, &in, 1, MPI_INT, (rank + size - 1) % size, i, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Sendrecv(&i, 1, MPI_INT, 1, i, &in, 1, MPI_INT, 1, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

static void die(const char* how) {
    for (int i = 0; i < 10; ++i)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        if (strcmp(how, "kill") == 0)
            raise(SIGKILL);
        if (strcmp(how, "abort") == 0)
            MPI_Abort(MPI_COMM_WORLD, 7);
        _exit(9);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    sleep(60);
}

static void spawn(const char* program) {
    MPI_Comm children;
    int value = 5, sum = 0;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 0, 1, children);
        MPI_Recv(&sum, 1, MPI_INT, 1, 1, children, MPI_STATUS_IGNORE);
        printf("from child %d\n", sum);
    }
    MPI_Comm_disconnect(&children);
}

static void be_spawned(MPI_Comm parent) {
    int value = 0;
    if (rank == 0) {
        MPI_Recv(&value, 1, MPI_INT, 0, 1, parent, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 0, 1, parent);
    }
    MPI_Comm_disconnect(&parent);
}

int main(int argc, char** argv) {
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    const char* what = argc > 1 ? argv[1] : "";
    const int count = argc > 2 ? atoi(argv[2]) : 1;
    if (parent != MPI_COMM_NULL) {
        be_spawned(parent);
    } else if (strcmp(what, "many") == 0) {
        many(count);
    } else if (strcmp(what, "silent") == 0) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pcontrol(0);
        for (int i = 0; i < 7; ++i)
            MPI_Barrier(MPI_COMM_WORLD);
        MPI_Pcontrol(1);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "around") == 0) {
        for (int i = 0; i < 5; ++i) {
            PMPI_Barrier(MPI_COMM_WORLD);
            MPI_Barrier(MPI_COMM_WORLD);
        }
    } else if (strcmp(what, "spawn") == 0) {
        spawn(argv[0]);
    } else if (strcmp(what, "fork") == 0) {
        const pid_t child = fork();
        if (child == 0)
            _exit(3);
        int status = 0;
        waitpid(child, &status, 0);
        MPI_Barrier(MPI_COMM_WORLD);
        if (WEXITSTATUS(status) != 3)
            return 1;
    } else {
        die(what);
    }
    if (rank == 0 && parent == MPI_COMM_NULL)
        puts("done");
    MPI_Finalize();
    return 0;
}
