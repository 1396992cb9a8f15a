#!/usr/bin/env python3
"""What is said to be counted is counted: split locks and unaligned accesses of a known number, in both modes, on an idle
machine and on one whose CPUs are all taken by another program. "At least" never exceeds the truth."""

import os
import subprocess
import sys
import unittest

from plumb_test import PROGRAMS, TREE, PlumbTest

SOURCE = TREE / "tests" / "programs" / "align_records.c"
MEMBER_LINE = 1 + SOURCE.read_text().splitlines().index("        sum += records[i].weight; // culprit: weight")
COUNT, ROUNDS, LOCKS = 2048, 40, 1200
PLACES = [13 * index + 1 for index in range(COUNT)]  # of a member of packed records that begin at a page
UNALIGNED = ROUNDS * sum(place % 8 != 0 for place in PLACES)


class Counts(PlumbTest):
    def burn_all_cpus(self):
        for _ in os.sched_getaffinity(0):
            burner = subprocess.Popen([sys.executable, "-c", "while True: pass"], stdin=subprocess.DEVNULL)
            self.addCleanup(burner.wait)
            self.addCleanup(burner.kill)

    def findings_of(self, mode):
        done = self.record(PROGRAMS / "align_records", COUNT, ROUNDS, LOCKS, options=["--force", f"--align={mode}"], check=0)
        self.assertEqual(done.stdout, f"{ROUNDS} {LOCKS}\n")
        report = self.report()
        trap = {entry["source"]: entry for entry in report["evidence"]}.get("alignment-trap")
        if trap is None or trap["state"] == "missing":
            self.skipTest(f"no alignment trap here: {trap and trap['why']}")
        member = [access["trapped"] for access in report["accesses"] if access["file"].endswith(SOURCE.name) and
                  access["line"] == MEMBER_LINE and "trapped" in access]
        return self.findings(report, "split-lock", at_least="info"), member

    def check_exact(self):
        locks, member = self.findings_of("exact")
        self.assertEqual(len(locks), 1)
        self.assertEqual(locks[0]["evidence"]["split_lock_count"], LOCKS)
        self.assertTrue(locks[0]["title"].startswith(f"{LOCKS:,} split locks, "), locks[0]["title"])
        self.assertNotIn("split_lock_estimate_most_count", locks[0]["evidence"])
        self.assertEqual([(counted["count"], counted["exact"]) for counted in member], [(UNALIGNED, True)])

    def check_find(self):
        locks, member = self.findings_of("find")
        for finding in locks:  # so short a program may make all of them where nobody watches
            caught = finding["evidence"]["split_lock_count"]
            self.assertLessEqual(caught, LOCKS)
            self.assertTrue(finding["title"].startswith(f"{caught:,} split locks caught"), finding["title"])
            self.assertNotIn("at least", finding["title"])
            self.assertFalse(finding["evidence"]["counted_exactly"])
        for counted in member:
            self.assertFalse(counted["exact"])
            self.assertLessEqual(counted["count"], UNALIGNED)

    def test_exact(self):
        self.check_exact()

    def test_find(self):
        self.check_find()

    def test_exact_on_a_loaded_machine(self):
        self.burn_all_cpus()
        self.check_exact()

    def test_find_on_a_loaded_machine(self):
        self.burn_all_cpus()
        for _ in range(3):
            self.check_find()


if __name__ == "__main__":
    unittest.main()
