"""Threads that share a CPU: the cost the report predicts is the cost that the cured launch measures."""

import os
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
        self.record(*self.workers(cpu), check=0)
        report = self.report()
        stacked = [f for f in self.findings(report, "cpu-oversubscribed", "high") if "pinned" in f["title"]]
        self.assertEqual(len(stacked), 1, report["findings"])
        finding = stacked[0]
        self.assertEqual(finding["subject"]["kind"], "cpu")
        self.assertEqual(str(finding["subject"]["name"]), str(cpu))
        self.assertEqual(len(finding["subject"]["threads"]), self.WORKERS)
        self.assertEqual(finding["evidence"]["pinned_waiting_fraction"], 1)
        self.assertIn("--pin=scatter", finding["advice"][0]["command"])
        self.assertIn("spin", finding["where"][0]["function"])
        overlap = self.findings(report, "placement-overlap", "info")
        for found in overlap:
            self.assertEqual(found["severity"], "info")
            self.assertEqual(found["cost"]["seconds"], 0)

        cured_directory = self.scratch / "cured"
        subprocess.run([PLUMB, "run", "-q", "--pin=scatter", "-o", cured_directory, "--", *map(str, self.workers())],
                       check=True, capture_output=True)
        cured = self.report(cured_directory)
        self.assertEqual([f for f in self.findings(cured, "cpu-oversubscribed") if "share CPU" in f["title"]], [])
        # The model's promise against the clock. Both runs may meet other programs, so the comparison is of what
        # this run's own threads had: CPU time is the same, and only as exact as this machine's speed.
        others = sum(f["cost"]["seconds"] for f in report["findings"] if f["title"].startswith("Other programs"))
        others_cured = sum(f["cost"]["seconds"] for f in cured["findings"] if f["title"].startswith("Other programs"))
        measured = (report["run"]["seconds"] - others) - (cured["run"]["seconds"] - others_cured)
        busy = others + others_cured > 0.05 * report["run"]["seconds"]
        self.assertAlmostEqual(finding["cost"]["seconds"] / measured, 1, delta=0.5 if busy else 0.2)

    def test_spread_workers_are_clean(self):
        self.record(PROGRAMS / "pinned_workers", 1, self.millions, check=0)
        report = self.report()
        self.assertEqual([f["title"] for f in self.findings(report, "cpu-oversubscribed")
                          if not f["title"].startswith("Other programs")], [])
        self.assertEqual(self.findings(report, "placement-overlap", "info"), [])
        self.assertEqual(self.findings(report, "thread-migration", "info"), [])


if __name__ == "__main__":
    unittest.main()
