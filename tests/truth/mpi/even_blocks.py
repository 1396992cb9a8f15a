"""Blocks of rows of equal size, and a mean over all ranks in every step."""
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
block = [1.0 + row % 13 for row in range(6000)]
for step in range(900):
    total = 0.0
    for value in block:
        total += value * 0.5 + 1.0
    mean = world.allreduce(total, op=MPI.SUM) / size
    block[step] += mean * 1e-9
if rank == 0:
    print(mean)
