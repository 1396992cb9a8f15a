"""Programs that nobody here wrote behave under the alignment trap as they do without, in both of its modes.

All of test_real_programs, and programs in Fortran and under both MPIs besides.
"""

import os
import shutil
import subprocess
import tempfile
import unittest

import test_real_programs

RING = r"""
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#pragma pack(push, 1)
struct message { char tag; double value; }; /* the value is unaligned */
#pragma pack(pop)
int main(int argc, char** argv) {
    int rank, count;
    struct message message = {'a', 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    for (int round = 0; round < 50; ++round) {
        int next = (rank + 1) % count, last = (rank + count - 1) % count;
        if (rank == 0) {
            message.value += 1;
            MPI_Send(&message, sizeof message, MPI_BYTE, next, 0, MPI_COMM_WORLD);
            MPI_Recv(&message, sizeof message, MPI_BYTE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(&message, sizeof message, MPI_BYTE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            message.value += rank;
            MPI_Send(&message, sizeof message, MPI_BYTE, next, 0, MPI_COMM_WORLD);
        }
    }
    double sum = 0;
    MPI_Allreduce(&message.value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %g, sum %g\n", count, message.value, sum);
    MPI_Finalize();
    return rank == 0 ? 3 : 0;
}
"""

SORTER = """
program sorter
  implicit none
  character(12) :: lines(200), swapped
  integer :: i, j
  real(8) :: total
  open (10, status='scratch', form='unformatted')
  do i = 1, 200
    write (lines(i), '(a, i6.6)') 'line', mod(i * 7919, 1000)
    write (10) i, sqrt(real(i, 8))
  end do
  do i = 1, 199
    do j = 1, 200 - i
      if (lines(j) > lines(j + 1)) then
        swapped = lines(j)
        lines(j) = lines(j + 1)
        lines(j + 1) = swapped
      end if
    end do
  end do
  rewind (10)
  total = 0
  do i = 1, 200
    block
      real(8) :: x
      read (10) j, x
      total = total + x * j
    end block
  end do
  print '(a, 1x, a, f14.4)', lines(1), lines(200), total
  stop 4
end program
"""


class UnderTheAlignmentTrap(test_real_programs.RealPrograms):
    MODES = {"find": ["--align=find"], "exact": ["--align=exact"]}
    # These look at other things than the program's behaviour.
    test_preload_that_is_lost_is_said = test_browser_with_and_without_its_sandbox = None

    def compiled(self, compiler, name, source, folder):
        if not shutil.which(compiler):
            self.skipTest(f"{compiler} is not installed")
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        program = os.path.join(folder, "program")
        built = subprocess.run([compiler, "-O1", "-g", path, "-o", program], capture_output=True, text=True)
        if built.returncode != 0 and "mpi.h" in built.stderr:
            self.skipTest(f"the headers of {compiler} are not installed")
        self.assertEqual(built.returncode, 0, built.stderr)
        return program

    def test_fortran(self):
        with tempfile.TemporaryDirectory() as folder:
            self.same([self.compiled("gfortran", "sorter.f90", SORTER, folder)])

    def test_server_whose_allocator_starts_threads(self):
        # jemalloc's are started by the C library's own function, which it looks up behind all preloads.
        if not shutil.which("redis-server") or not shutil.which("redis-cli"):
            self.skipTest("redis is not installed")
        self.same(["sh", "-c", '''
            redis-server --port 0 --unixsocket socket --save '' > /dev/null 2>&1 &
            tries=0
            until [ "$(redis-cli -s socket ping 2>&1)" = PONG ] || [ $tries -eq 600 ]; do
                tries=$((tries + 1)); sleep 0.1
            done
            redis-cli -s socket set key value
            redis-cli -s socket get key
            redis-cli -s socket shutdown nosave
            wait $!
            echo "server's status $?"'''])

    def ring(self, compiler, launcher, *options):
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        # What mpirun says of a rank that exits with another status than 0 names processes and nodes.
        changing = [rb"(?s)^(-----|=====).*", rb"^.*(PID|pid).*\n"]
        with tempfile.TemporaryDirectory() as folder:
            program = self.compiled(compiler, "ring.c", RING, folder)
            self.same([launcher, *options, "-n", "3", program], changing=changing, **as_root)

    def test_open_mpi(self):
        self.ring("mpicc.openmpi", "mpirun.openmpi", "--oversubscribe")

    def test_mpich(self):
        self.ring("mpicc.mpich", "mpirun.mpich")


if __name__ == "__main__":
    unittest.main()
