#!/usr/bin/env python3
"""examples/noisy-neighbour: the daemon beside the ranks is named, with how often and how long it runs; without it, it is not.

What moving it gains is compared with what it gains by tests/bench/bench_noise.py: two short runs on a shared machine say too
little about a few percent.
"""

import os
import shutil
import subprocess
import unittest

from mpi_test import AS_ROOT, LAUNCH
from plumb_test import PROGRAMS, PlumbTest

EXAMPLES = PROGRAMS.parents[1] / "examples"
DAEMON = EXAMPLES / "noisy-neighbour" / "pollerd"
MOST_RUNS = 3
STEPS = 4000


class NoisyNeighbour(PlumbTest):
    def command(self, mpi, program, *arguments):
        path = EXAMPLES / f"{program}.{mpi}"
        if not shutil.which(LAUNCH[mpi][0]) or not path.exists():
            self.skipTest(f"{path.name} cannot run here")
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("two ranks need two CPUs")
        return [shutil.which(LAUNCH[mpi][0]), *LAUNCH[mpi][1:], "-n", "2", path, *arguments]

    def noise(self, command):
        shutil.rmtree(self.run_directory, ignore_errors=True)
        self.record(*command, options=["--no-report"], check=0, env={**os.environ, **AS_ROOT})
        return self.findings(self.report(), "os-noise")

    def noise_beside_daemon(self, command):
        cpu = max(os.sched_getaffinity(0))
        with subprocess.Popen([DAEMON, str(cpu), "600"]) as daemon:
            try:
                return cpu, self.noise(command)
            finally:
                daemon.kill()

    def check_named(self, mpi):
        """Other programs on this machine may hide it in a run."""
        command = self.command(mpi, "noisy-neighbour/heat", STEPS)
        seen = []
        for _ in range(MOST_RUNS):
            cpu, found = self.noise_beside_daemon(command)
            named = [finding for finding in found if finding["subject"]["name"] == "pollerd"]
            seen.append([finding["title"] for finding in found])
            if not named:
                continue
            evidence = named[0]["evidence"]
            self.assertEqual(named[0]["subject"]["kind"], "daemon")
            self.assertIn(cpu, named[0]["subject"]["details"]["cpus"])
            if abs(evidence.get("class_period_ms", 0) / 500 - 1) < 0.05 and abs(evidence["class_duration_ms"] / 20 - 1) < 0.05:
                return
            seen[-1].append(evidence)
        self.fail(f"in {MOST_RUNS} runs: {seen}")

    def test_daemon_is_named_openmpi(self):
        self.check_named("openmpi")

    def test_daemon_is_named_mpich(self):
        self.check_named("mpich")

    def test_without_daemon(self):
        found = self.noise(self.command("openmpi", "noisy-neighbour/heat", STEPS // 2))
        self.assertNotIn("pollerd", [finding["subject"]["name"] for finding in found])

    def test_late_rank_is_no_noise(self):
        """One rank has more to do: whatever else there is, its own work is no noise."""
        shutil.rmtree(self.run_directory, ignore_errors=True)
        command = self.command("openmpi", "late-rank/probe-every-cycle", 1500)
        self.record(*command, options=["--no-report"], check=0, env={**os.environ, **AS_ROOT})
        report = self.report()
        late = self.findings(report, "mpi-late-rank")
        for finding in self.findings(report, "os-noise"):
            self.assertNotEqual(finding["subject"]["kind"], "thread", finding["title"])
            if late: # of a machine that is busy otherwise
                self.assertLess(finding["cost"]["seconds"], late[0]["cost"]["seconds"], finding["title"])


if __name__ == "__main__":
    unittest.main()
