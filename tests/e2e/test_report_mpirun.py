#!/usr/bin/env python3
"""`mpirun -n N plumb report RUN`: the processes share the work and print what one process prints, whatever befalls them."""

import os
import signal
import subprocess
import time
import unittest

from mpi_test import AS_ROOT, LAUNCH
from plumb_test import PLUMB, PlumbTest, has_mount_namespaces
from shutil import which

MAKE = os.environ["PLUMB_MAKE_MPI_RUN"]
LAUNCHER_VARIABLES = ("OMPI_", "PMIX_", "PMI_", "MPI_", "SLURM_")
JOB = "12345"


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

    def process(self, rank, count, before=()):
        """One process as Open MPI would start it, of a job that exists nowhere else."""
        return subprocess.Popen([*before, PLUMB, "report", self.run_directory, "--format", "json"], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env={**without_launcher(), "OMPI_COMM_WORLD_RANK": str(rank), "PMIX_NAMESPACE": JOB,
                                     "OMPI_COMM_WORLD_SIZE": str(count)})

    def ended(self, process, killed_by=0):
        """What it wrote to stdout; nothing may go to stderr. One that is killed may have been quicker."""
        output, errors = process.communicate(timeout=120)
        self.assertIn(process.returncode, (0, -killed_by))
        self.assertEqual(errors, b"")
        return output

    def assert_tidy(self):
        self.assertEqual([name for name in os.listdir(self.run_directory) if name.startswith(".team")], [])

    def team_folder(self):
        return self.run_directory / f".team-openmpi-{JOB}"

    def wait_for(self, path, *processes):
        """Until it is there, or one of the processes has ended."""
        while not path.exists() and all(process.poll() is None for process in processes):
            time.sleep(0.001)

    def test_same_bytes_under_launchers(self):
        self.make()
        out, alone = self.scratch / "report", self.scratch / "alone"
        for form in ("text", "json", "html"):
            subprocess.run([PLUMB, "report", self.run_directory, "--format", form, "-o", alone], check=True,
                           env=without_launcher())
            self.assertGreater(alone.stat().st_size, 1000)
            for mpi, count in (("openmpi", 2), ("mpich", 3)):
                with self.subTest(form=form, mpi=mpi, processes=count):
                    if not which(LAUNCH[mpi][0]):
                        continue
                    subprocess.run([*LAUNCH[mpi], "-n", str(count), PLUMB, "report", self.run_directory, "--format", form,
                                    "-o", out], capture_output=True, check=True, timeout=120,
                                   env={**without_launcher(), **AS_ROOT})
                    self.assertEqual(out.read_bytes(), alone.read_bytes())
                    self.assert_tidy()

    def test_helpers_print_nothing(self):
        self.make()
        processes = [self.process(rank, 3) for rank in range(3)]
        outputs = [self.ended(process) for process in processes]
        self.assertEqual(outputs, [self.alone(), b"", b""])
        self.assert_tidy()

    def test_helper_killed_at_work(self):
        self.make(64, 2_000)
        alone = self.alone()
        leader = self.process(0, 3)
        helpers = [self.process(rank, 3) for rank in (1, 2)]
        self.wait_for(self.team_folder() / "member-1", leader, *helpers)
        helpers[0].kill()
        self.assertEqual(self.ended(leader), alone)
        self.assertEqual(self.ended(helpers[0], signal.SIGKILL), b"")
        self.assertEqual(self.ended(helpers[1]), b"")
        self.assert_tidy()

    def test_leader_killed(self):
        self.make(64, 2_000)
        for number in (signal.SIGKILL, signal.SIGINT):
            with self.subTest(number=number):
                leader, helper = self.process(0, 2), self.process(1, 2)
                self.wait_for(self.team_folder() / "member-1", leader, helper)
                leader.send_signal(number)
                self.ended(leader, number)
                self.assertEqual(self.ended(helper), b"") # it sees that nobody leads, and ends
                self.assert_tidy()

    def test_folder_of_a_killed_job(self):
        """Of the same name, as launchers number their jobs anew: nobody joins the dead, and the next leader removes it."""
        self.make(64, 2_000)
        for _ in range(20):
            dead = self.process(0, 2)
            self.wait_for(self.team_folder() / "member-0", dead)
            dead.kill()
            self.ended(dead, signal.SIGKILL)
            if self.team_folder().exists():
                break # else it was quicker
        helper = self.process(1, 2)
        leader = self.process(0, 2)
        self.assertEqual(self.ended(leader), self.alone())
        self.assertEqual(self.ended(helper), b"")
        self.assert_tidy()

    def test_nobody_helps(self):
        """As in a batch script, whose shell has the variables of rank 0."""
        self.make()
        self.assertEqual(self.ended(self.process(0, 64)), self.alone())
        self.assert_tidy()

    def test_nobody_leads(self):
        self.make()
        self.assertEqual(self.ended(self.process(1, 2)), b"")
        self.assert_tidy()

    @unittest.skipUnless(has_mount_namespaces(), "no mount namespaces")
    def test_run_that_cannot_be_written(self):
        self.make()
        read_only = ["unshare", "-m", "sh", "-c", 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
                     self.run_directory]
        processes = [self.process(rank, 2, read_only) for rank in range(2)]
        self.assertEqual([self.ended(process) for process in processes], [self.alone(), b""])
        self.assert_tidy()


if __name__ == "__main__":
    unittest.main()
