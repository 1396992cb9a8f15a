// Substances that spread over a plate. The plate is cut into a grid of squares, one for each rank, which exchanges the cells along its
// edges with its four neighbours in each step: rank = row x columns + column. Usage: plate STEPS
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCells = 64, kSubstances = 32, kSide = kCells + 2 };

typedef double Cell[kSubstances];
typedef Cell Square[kSide][kSide]; // with a frame of the neighbours' cells

static void spread(const Square from, Square to) {
    for (int y = 1; y <= kCells; ++y)
        for (int x = 1; x <= kCells; ++x)
            for (int s = 0; s < kSubstances; ++s)
                to[y][x][s] = from[y][x][s] + 0.1 * (from[y - 1][x][s] + from[y + 1][x][s] + from[y][x - 1][s] + from[y][x + 1][s] -
                                                     4 * from[y][x][s]);
}

static void exchange(MPI_Comm grid, Square square, MPI_Datatype row, MPI_Datatype column) {
    int up, down, left, right;
    MPI_Cart_shift(grid, 0, 1, &up, &down);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Request requests[8];
    MPI_Irecv(square[0][1], 1, row, up, 0, grid, &requests[0]);
    MPI_Irecv(square[kCells + 1][1], 1, row, down, 1, grid, &requests[1]);
    MPI_Irecv(square[1][0], 1, column, left, 2, grid, &requests[2]);
    MPI_Irecv(square[1][kCells + 1], 1, column, right, 3, grid, &requests[3]);
    MPI_Isend(square[kCells][1], 1, row, down, 0, grid, &requests[4]);
    MPI_Isend(square[1][1], 1, row, up, 1, grid, &requests[5]);
    MPI_Isend(square[1][kCells], 1, column, right, 2, grid, &requests[6]);
    MPI_Isend(square[1][1], 1, column, left, 3, grid, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int steps = argc > 1 ? atoi(argv[1]) : 1000;
    int ranks, rank, sizes[2] = {0, 0}, is_closed[2] = {0, 0};
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Dims_create(ranks, 2, sizes);
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, is_closed, 0, &grid); // 0: each keeps its rank
    MPI_Comm_rank(grid, &rank);
    MPI_Datatype row, column;
    MPI_Type_contiguous(kCells * kSubstances, MPI_DOUBLE, &row);
    MPI_Type_vector(kCells, kSubstances, kSide * kSubstances, MPI_DOUBLE, &column);
    MPI_Type_commit(&row);
    MPI_Type_commit(&column);
    Square* const now = calloc(1, sizeof(Square));
    Square* const next = calloc(1, sizeof(Square));
    if (rank == 0)
        for (int s = 0; s < kSubstances; ++s)
            (*now)[kCells / 2][kCells / 2][s] = 1;

    MPI_Barrier(grid);
    const double begin = MPI_Wtime();
    double most = 0;
    for (int step = 0; step < steps; step += 2) {
        exchange(grid, *now, row, column);
        spread(*now, *next);
        exchange(grid, *next, row, column);
        spread(*next, *now);
        double own = (*now)[kCells / 2][kCells / 2][0];
        MPI_Allreduce(&own, &most, 1, MPI_DOUBLE, MPI_MAX, grid);
    }
    if (rank == 0)
        printf("%.3f s for %d steps of a grid of %d x %d; at most %.6f\n", MPI_Wtime() - begin, steps, sizes[0], sizes[1], most);
    free(now);
    free(next);
    MPI_Type_free(&row);
    MPI_Type_free(&column);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
