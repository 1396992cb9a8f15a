#!/usr/bin/env python3
"""One rank is late because it sleeps, and another one waits for it in every way there is: who is named, why, and how long the
other one waited, by its own clock."""

import os
import shutil
import sys
import unittest

from mpi_test import AS_ROOT, LAUNCH, MPI_PROGRAMS
from plumb_test import PlumbTest

STEPS, SLEEP_MS = 40, 20
MOST_RUNS, MOST_LOST = 2, 0.05
LATE_SENDER = ["recv", "wait", "test", "probe", "iprobe", "mprobe"]
LATE_RECEIVER = ["ssend", "send"]
COLLECTIVE = {"allreduce": ("MPI_Allreduce", 2), "reduce": ("MPI_Reduce", 3), "fence": ("MPI_Win_fence", 2),
              "write": ("MPI_File_write_at_all", 2), "sync": ("MPI_File_sync", 2)} # way: call, ranks
ON_FILE = ["write", "sync"]


def stolen_seconds():
    """That the hypervisor kept the CPUs for others, all of them together."""
    with open("/proc/stat", encoding="ascii") as stat:
        return int(stat.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


class Waits(PlumbTest):
    def recorded(self, mpi, way, ranks=2):
        """(seconds that the first rank waited, the report) of a run in which that rank had a CPU to wait on: else the time
        until it runs again belongs to no sender."""
        if not shutil.which(LAUNCH[mpi][0]) or not (MPI_PROGRAMS / f"late.{mpi}").exists():
            self.skipTest(f"late.{mpi} cannot run here")
        for _ in range(MOST_RUNS):
            shutil.rmtree(self.run_directory, ignore_errors=True)
            stolen = stolen_seconds()
            done = self.record(shutil.which(LAUNCH[mpi][0]), *LAUNCH[mpi][1:], "-n", str(ranks), MPI_PROGRAMS / f"late.{mpi}",
                               way, str(STEPS), str(SLEEP_MS), *([self.scratch / "written"] if way in ON_FILE else []), options=["--no-report"], check=0, env={**os.environ, **AS_ROOT})
            waited, report = float(done.stdout), self.report()
            lost = report["mpi_jobs"][0]["ranks"][0]["run_delay_seconds"] + stolen_seconds() - stolen
            if lost < MOST_LOST * max(waited, 1e-3 * STEPS * SLEEP_MS):
                return waited, report
        self.skipTest(f"other programs or machines took the CPUs in each of {MOST_RUNS} runs")

    def check(self, mpi, way, key):
        waited, report = self.recorded(mpi, way)
        ranks = {row["rank"]: row for row in report["mpi_jobs"][0]["ranks"]}
        self.assertGreater(waited, 0.9e-3 * STEPS * SLEEP_MS)
        self.assertGreater(ranks[0][key] / waited, 0.7) # less where the late rank was slow to wake up
        self.assertLess(ranks[0][key] / waited, 1.15)
        self.assertLess(ranks[1][key], 0.15 * waited)
        found = self.findings(report, "mpi-late-rank")
        self.assertEqual([finding["subject"]["name"] for finding in found], [1])
        self.assertAlmostEqual(found[0]["cost"]["seconds"] / waited, 1, delta=0.3)
        self.assertEqual(self.findings(report, "mpi-small-messages"), [])

    def check_collective(self, mpi, way, call, ranks):
        waited, report = self.recorded(mpi, way, ranks)
        found = self.findings(report, "mpi-late-rank")
        if waited < 0.1e-3 * STEPS * SLEEP_MS: # some libraries' ranks use a file each by themselves, until they close it
            self.assertFalse(any(call in finding["title"] for finding in found))
            return
        self.assertEqual([finding["subject"]["name"] for finding in found], [ranks - 1])
        self.assertEqual(found[0]["subject"]["reason"], "blocked")
        self.assertAlmostEqual(found[0]["cost"]["seconds"] / waited, 1, delta=0.3)
        self.assertEqual(os.path.basename(found[0]["where"][0]["file"]), "late.c")
        self.assertIn(call, found[0]["title"])
        self.assertGreater(report["mpi_jobs"][0]["ranks"][0]["collective_wait_seconds"] / waited, 0.8)


for mpi in LAUNCH:
    for way in LATE_SENDER + LATE_RECEIVER:
        key = "late_sender_seconds" if way in LATE_SENDER else "late_receiver_seconds"
        setattr(Waits, f"test_{way}_{mpi}", lambda self, mpi=mpi, way=way, key=key: self.check(mpi, way, key))
    for way, (call, ranks) in COLLECTIVE.items():
        setattr(Waits, f"test_{way}_{mpi}",
                lambda self, mpi=mpi, way=way, call=call, ranks=ranks: self.check_collective(mpi, way, call, ranks))

if __name__ == "__main__":
    unittest.main(argv=sys.argv)
