"""Threads that share a CPU: the cost the report predicts is the cost that the cured launch measures."""

import os
import statistics
import subprocess
import time
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest


def wall_of(*command):
    begin = time.monotonic()
    subprocess.run([*map(str, command)], check=True)
    return time.monotonic() - begin


class CpuOversubscribed(PlumbTest):
    WORKERS = 4

    @classmethod
    def setUpClass(cls):
        """Work for about 2 s on one CPU, whatever this machine's speed is."""
        program = PROGRAMS / "pinned_workers"
        probe = min(wall_of(program, 1, 100) for _ in range(3))
        cls.millions = max(10, int(100 * 2 / cls.WORKERS / probe))

    def workers(self, *arguments):
        return [PROGRAMS / "pinned_workers", self.WORKERS, self.millions, *arguments]

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_four_workers_pinned_to_one_cpu(self):
        cpu = min(os.sched_getaffinity(0))
        report, finding = self.pinned_finding(cpu)
        self.assertEqual(finding["subject"]["kind"], "cpu")
        self.assertEqual(str(finding["subject"]["name"]), str(cpu))
        self.assertIn(len(finding["subject"]["threads"]), (self.WORKERS, self.WORKERS + 1))  # and who started them
        self.assertEqual(finding["evidence"]["pinned_waiting_fraction"], 1)
        self.assertIn("--pin=scatter", finding["advice"][0]["command"])
        self.assertIn("spin", finding["where"][0]["function"])
        overlap = self.findings(report, "placement-overlap", "info")
        for found in overlap:
            self.assertEqual(found["severity"], "info")
            self.assertEqual(found["cost"]["seconds"], 0)

        # The model's promise against the clock, in up to three pairs: a machine may be slower in one run than in the other.
        ratios = []
        for pair in range(3):
            ratios.append(finding["cost"]["seconds"] / self.measured_gain(report, f"cured-{pair}"))
            if abs(statistics.median(ratios) - 1) <= 0.2:
                return
            report, finding = self.pinned_finding(cpu)
        self.skip_if_cpus_were_stolen()
        self.fail(f"told / measured {ratios}")

    def pinned_finding(self, cpu):
        """The report of workers that are all pinned to one CPU, and what it says of that."""
        self.record(*self.workers(cpu), options=("-q", "--no-report", "--force"), check=0)
        report = self.report()
        stacked = [f for f in self.findings(report, "cpu-oversubscribed", "high") if "pinned" in f["title"]]
        by_others = [f for f in self.findings(report, "cpu-oversubscribed") if "ther programs" in f["title"]]
        if not stacked and by_others and by_others[0]["evidence"]["idle_cpu_seconds"] < 0.1 * report["run"]["seconds"]:
            self.skipTest("other programs kept all CPUs busy: there was no room that the workers could have had")
        if not stacked:
            self.skip_if_cpus_were_stolen()
        self.assertEqual(len(stacked), 1, report["findings"])
        return report, stacked[0]

    def measured_gain(self, report, name):
        """Seconds by which the workers end earlier when they are spread."""
        directory = self.scratch / name
        subprocess.run([PLUMB, "run", "-q", "--pin=scatter", "-o", directory, "--", *map(str, self.workers())],
                       check=True, capture_output=True)
        cured = self.report(directory)
        self.assertEqual([f for f in self.findings(cured, "cpu-oversubscribed") if "ther programs" not in f["title"]], [])
        # Other programs would lengthen each of the two runs differently.
        others = sum(found["cost"]["seconds"] for each in (report, cured)
                     for found in self.findings(each, "cpu-oversubscribed") if "ther programs" in found["title"])
        if others > 0.02 * report["run"]["seconds"]:
            self.skipTest("other programs ran meanwhile: the two runs cannot be compared by the clock")
        return report["run"]["seconds"] - cured["run"]["seconds"]

    def test_spread_workers_are_clean(self):
        self.record(PROGRAMS / "pinned_workers", 1, self.millions, check=0)
        report = self.report()
        self.assertEqual([f["title"] for f in self.findings(report, "cpu-oversubscribed")
                          if not f["title"].startswith("Other programs")], [])
        self.assertEqual(self.findings(report, "placement-overlap", "info"), [])
        self.assertEqual(self.findings(report, "thread-migration", "info"), [])


if __name__ == "__main__":
    unittest.main()
