"""A few calls of each kind through mpi4py; counts what it does as tally.h describes. Prints `no mpi4py` without it."""
import collections
import sys

try:
    from mpi4py import MPI
except ImportError:
    print("no mpi4py")
    sys.exit(0)

world = MPI.COMM_WORLD
rank, size = world.rank, world.size
next_rank, previous = (rank + 1) % size, (rank - 1) % size
calls = collections.defaultdict(lambda: [0, 0, 0])


def tally(name, sent, received):
    for i, count in enumerate((1, sent, received)):
        calls[name][i] += count


def data(count):
    return [bytearray(count), count, MPI.BYTE]


for i in range(10):
    requests = [world.Irecv(data(1000), MPI.ANY_SOURCE if i % 2 else previous, 7), world.Isend(data(50 + i), next_rank, 7)]
    tally("Irecv", 0, 50 + i)
    tally("Isend", 50 + i, 0)
    MPI.Request.Waitall(requests)
    tally("Waitall", 0, 0)
world.Sendrecv(data(30), next_rank, 1, data(500), previous, 1)
tally("Sendrecv", 30, 30)
world.Allreduce(MPI.IN_PLACE, [bytearray(24), 3, MPI.DOUBLE])
tally("Allreduce", 24, 24)
world.Bcast(data(100), 0)
tally("Bcast", 100 if rank == 0 else 0, 0 if rank == 0 else 100)
world.Allgather(data(5), [bytearray(5 * size), 5, MPI.BYTE])
tally("Allgather", 5, 5 * size)
world.Alltoall([bytearray(6 * size), 6, MPI.BYTE], [bytearray(6 * size), 6, MPI.BYTE])
tally("Alltoall", 6 * size, 6 * size)
twin = world.Dup()
tally("Comm_dup", 0, 0)
twin.Barrier()
tally("Barrier", 0, 0)
twin.Free()
tally("Comm_free", 0, 0)
# In one piece: the launcher mixes what the ranks write.
lines = [f"{rank} MPI_{name} {' '.join(map(str, counts))}\n" for name, counts in calls.items()]
sys.stdout.write("".join(lines))
