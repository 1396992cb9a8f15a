"""Containers: programs of one host name with the same small pids, beside one another and below one recorder."""

import os
import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest

CONTAINER = ["unshare", "-Urpf", "--mount-proc"]


def has_containers():
    try:
        return subprocess.run([*CONTAINER, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@unittest.skipUnless(has_containers(), "needs PID namespaces")
class PidNamespaces(PlumbTest):
    def test_ranks_with_equal_pids(self):
        """Two ranks, each in a container with its recorder: pid 2 of the one is not pid 2 of the other."""
        variables = {"OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "x"}
        ranks = [subprocess.Popen([*CONTAINER, PLUMB, "run", "-o", str(self.run_directory), "--no-report", "--",
                                   str(PROGRAMS / "burn"), "0.6", str(threads)], stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, **variables, "OMPI_COMM_WORLD_RANK": str(rank)})
                 for rank, threads in enumerate((2, 3))]
        self.assertEqual([(rank.communicate()[1], rank.returncode) for rank in ranks], [("", 0), ("", 0)])
        run = self.report()["run"]
        self.assertEqual((run["processes"], run["ranks"], len(run["hosts"])), (2, 2, 1), run)
        alone = 0
        for threads in (2, 3):
            self.run_directory = self.scratch / f"alone-{threads}"
            self.record(PROGRAMS / "burn", 0.1, threads, options=("--no-report",), check=0)
            alone += self.report()["run"]["threads"]
        self.assertEqual(run["threads"], alone)

    def test_container_below_the_recorder(self):
        """The recorder and the shim know one process, and its threads, by different numbers."""
        found = []
        for name, command in (("inside", [*CONTAINER, PROGRAMS / "burn", 1.2, 3]),
                              ("outside", ["sh", "-c", f"{PROGRAMS}/burn 1.2 3; true"])):
            self.run_directory = self.scratch / name
            self.record(*command, options=("--no-report",), check=0)
            run = self.report()["run"]
            found.append((run["processes"], run["threads"]))
        self.assertEqual(found[0], found[1])


if __name__ == "__main__":
    unittest.main()
