#!/usr/bin/env python3
"""What unaligned accesses cost in their loops, as a report without any option says it, beside what the same loop takes with
aligned data."""

import subprocess
import unittest

from plumb_test import PROGRAMS, TREE, PlumbTest, of_times

SOURCE = TREE / "tests" / "programs" / "unaligned_loops.c"
PROGRAM = PROGRAMS / "unaligned_loops"
CULPRIT = next(number for number, text in enumerate(SOURCE.read_text().splitlines(), 1) if "culprit: pages" in text)


def seconds(kind, offset, rounds):
    """The least of some runs."""
    return min(float(subprocess.run([PROGRAM, kind, str(offset), str(rounds)], capture_output=True, text=True,
                                    check=True).stdout) for _ in range(3))


class InPlace(PlumbTest):
    def report_of(self, *arguments):
        self.record(PROGRAM, *arguments, check=0)
        report = self.report()
        sources = {entry["source"]: entry for entry in report["evidence"]}
        addresses = sources.get("address-sampling")
        if addresses is None or addresses["state"] == "missing":
            self.skipTest(f"no addresses here: {addresses and addresses['why']}")
        return report

    @of_times
    def test_stores_across_pages(self):
        rounds = max(1000, int(1e6 / seconds("pages", 4, 1_000_000)))  # a second
        saved = 1 - seconds("pages", 0, rounds) / seconds("pages", 4, rounds)
        report = self.report_of("pages", 4, rounds)
        found = self.findings(report, "line-split-access")
        self.assertEqual(len(found), 1, report["findings"])
        finding = found[0]
        self.assertEqual(finding["severity"], "high")
        self.assertEqual(finding["cost"]["how"], "measured")
        # On a busy machine a round takes longer in the program than in the replay; a third more is accepted.
        self.assertLess(finding["cost"]["fraction"], saved + 0.1)
        self.assertGreater(finding["cost"]["fraction"], 0.65 * saved)
        measured = finding["evidence"]
        self.assertAlmostEqual(1 - measured["loop_round_aligned_ns"] / measured["loop_round_ns"], saved, delta=0.15)
        self.assertTrue(finding["where"][0]["file"].endswith(SOURCE.name))
        self.assertEqual(finding["where"][0]["line"], CULPRIT)
        self.assertIn("cross a page", finding["title"])
        self.assertAlmostEqual(finding["evidence"]["loop_page_crossing_fraction"], 1, places=3)

    @of_times
    def test_aligned(self):
        rounds = max(1000, int(1e6 / seconds("pages", 0, 1_000_000)))
        report = self.report_of("pages", 0, rounds)
        self.assertEqual(self.findings(report, "line-split-access", "info"), [])

    @of_times
    def test_crossings_that_nothing_waits_for(self):
        rounds = max(100, int(1e4 / seconds("chain", 4, 10_000)))
        report = self.report_of("chain", 4, rounds)
        self.assertEqual(self.findings(report, "line-split-access"), [])
        self.assertEqual(self.findings(report, "unaligned-access"), [])
        for finding in self.findings(report, "unaligned-access", "info"):
            self.assertLess(finding["cost"]["fraction"], 0.02)


if __name__ == "__main__":
    unittest.main()
