#!/usr/bin/env python3
"""`mpirun -n N plumb report RUN`: the processes share the work by the launcher's MPI, and print what one process prints."""

import os
import subprocess
import unittest

from mpi_test import AS_ROOT, LAUNCH
from plumb_test import PLUMB, PlumbTest
from shutil import which

MAKE = os.environ["PLUMB_MAKE_MPI_RUN"]
LAUNCHER_VARIABLES = ("OMPI_", "PMIX_", "PMI_", "MPI_", "SLURM_")


def without_launcher():
    return {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHER_VARIABLES)}


class ReportByProcesses(PlumbTest):
    def make(self, ranks=128, collectives=200, *options):
        """Several hosts, messages, a late rank and behind it several that are late together: every stage of the replay has
        something to do."""
        subprocess.run([MAKE, self.run_directory, "--ranks", str(ranks), "--ranks-per-node", "32", "--collectives",
                        str(collectives), "--late", "11:30", *(word for rank in range(40, 48) for word in ("--late", f"{rank}:15")),
                        "--jitter", "0.05", "--halo", "2048", *options],
                       capture_output=True, check=True)

    def alone(self):
        return subprocess.run([PLUMB, "report", self.run_directory, "--format", "json"], capture_output=True, check=True,
                              env=without_launcher()).stdout

    def process(self, rank, count):
        """One process as Open MPI numbers them, but with no launcher to talk to."""
        return subprocess.run([PLUMB, "report", self.run_directory, "--format", "json"], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=120, text=True,
                              env={**without_launcher(), "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(count)})

    def launched(self, mpi, count, *command):
        return [*LAUNCH[mpi], "-n", str(count), *command]

    def test_same_bytes_under_launchers(self):
        self.make()
        out, alone = self.scratch / "report", self.scratch / "alone"
        for form in ("text", "json", "html"):
            subprocess.run([PLUMB, "report", self.run_directory, "--format", form, "-o", alone], check=True,
                           env=without_launcher())
            self.assertGreater(alone.stat().st_size, 500)
            for mpi, count in (("openmpi", 2), ("mpich", 3)):
                with self.subTest(form=form, mpi=mpi, processes=count):
                    if not which(LAUNCH[mpi][0]):
                        continue
                    done = subprocess.run(self.launched(mpi, count, PLUMB, "report", self.run_directory, "--format", form,
                                                        "-o", out), capture_output=True, check=True, timeout=120, text=True,
                                          env={**without_launcher(), **AS_ROOT})
                    self.assertNotIn("plumb:", done.stderr) # they did work together
                    self.assertEqual(out.read_bytes(), alone.read_bytes())

    def test_helpers_print_nothing(self):
        self.make()
        for mpi in ("openmpi", "mpich"):
            if which(LAUNCH[mpi][0]):
                done = subprocess.run(self.launched(mpi, 3, PLUMB, "report", self.run_directory, "--format", "json"),
                                      capture_output=True, check=True, timeout=120, env={**without_launcher(), **AS_ROOT})
                self.assertEqual(done.stdout, self.alone(), mpi)

    def test_error_is_said_once_and_ends_all(self):
        for mpi in ("openmpi", "mpich"):
            if which(LAUNCH[mpi][0]):
                done = subprocess.run(self.launched(mpi, 2, PLUMB, "report", self.scratch / "none"), capture_output=True,
                                      timeout=60, text=True, env={**without_launcher(), **AS_ROOT})
                self.assertEqual(done.stderr.count("plumb:"), 1, done.stderr)

    def test_killed_process_ends_the_job(self):
        """As MPI does it: nobody waits for it, and no half of a report is printed."""
        self.make(64, 2_000)
        script = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || (sleep 0.1; kill -9 $$) & exec "$@"'
        for mpi in ("openmpi", "mpich"):
            if which(LAUNCH[mpi][0]):
                out = self.scratch / f"report-{mpi}" # the launcher may write to stdout itself
                subprocess.run(self.launched(mpi, 2, "sh", "-c", script, "sh", PLUMB, "report", self.run_directory,
                                             "--format", "json", "-o", out),
                               capture_output=True, timeout=60, env={**without_launcher(), **AS_ROOT})
                self.assertTrue(not out.exists() or out.read_bytes() == self.alone(), mpi)

    def test_no_launcher_to_talk_to(self):
        """As in a shell that has the variables of rank 0: the report is whole, and one sentence says that nobody helped."""
        self.make()
        first = self.process(0, 64)
        self.assertEqual(first.stdout.encode(), self.alone())
        self.assertEqual(first.stderr.count("\n"), 1)
        self.assertIn("the 64 processes of this job cannot share the work", first.stderr)
        second = self.process(1, 64)
        self.assertEqual((second.stdout, second.stderr, second.returncode), ("", "", 0))


if __name__ == "__main__":
    unittest.main()
