"""Blocks of rows are normalised in turns. Planted: the last rank has four fifths of the rows. Cured: all have as many."""
import os

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
ROWS = 4000 * size
if os.environ.get("CURED"):
    rows = ROWS // size
else:
    rows = ROWS * 4 // 5 if rank == size - 1 else ROWS // 5 // (size - 1)
block = [1.0 + row % 13 for row in range(rows)]
for step in range(900):
    total = 0.0
    for row in range(rows):
        total += block[row] * 0.5 + 1.0  # planted: unequal-share
    largest = world.allreduce(total, op=MPI.MAX)
    scale = 1.0 / (1.0 + largest * 1e-9)
if rank == 0:
    print(scale)
