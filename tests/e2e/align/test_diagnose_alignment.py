#!/usr/bin/env python3
"""Unaligned accesses from the trap to the report: counts equal the arithmetic, only the culprits are named."""

import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, TREE, PlumbTest

SOURCE = TREE / "tests" / "programs" / "align_records.c"
COUNT, ROUNDS, LOCKS = 4096, 20, 400


def line_of(marker):
    for number, text in enumerate(SOURCE.read_text().splitlines(), 1):
        if marker in text:
            return number
    raise AssertionError(f"{SOURCE} has no line with {marker}")


def places(count):
    """Places of the member of COUNT records that begin at a page: 13 bytes each, the member 1 byte into it."""
    return [13 * index + 1 for index in range(count)]


class Alignment(PlumbTest):
    def record_mode(self, mode, count, rounds, locks):
        done = self.record(PROGRAMS / "align_records", count, rounds, locks,
                           options=[f"--align={mode}", "--heap=full"], check=0)
        self.assertEqual(done.stdout, f"{rounds} {locks}\n")
        report = self.report()
        evidence = {entry["source"]: entry for entry in report["evidence"]}
        trap = evidence.get("alignment-trap")
        if trap is None or trap["state"] == "missing":
            self.skipTest(f"no alignment trap here: {trap and trap['why']}")
        return report

    def sites(self, *options):
        done = subprocess.run([PLUMB, "report", str(self.run_directory), "--align-sites", *options],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def at(self, report, marker):
        return [access for access in report["accesses"]
                if access["file"].endswith("align_records.c") and access["line"] == line_of(marker)]

    def test_exact_counts(self):
        report = self.record_mode("exact", COUNT, ROUNDS, 0)
        self.assertEqual(self.at(report, "decoy: weight"), [])
        culprits = self.at(report, "culprit: weight")
        self.assertEqual(len(culprits), 1, report["accesses"])
        trapped = culprits[0]["trapped"]
        odd = [place for place in places(COUNT) if place % 8]
        self.assertEqual(trapped, {"count": ROUNDS * len(odd), "exact": True,
                                   "line_crossings": ROUNDS * sum(place % 64 > 56 for place in odd),
                                   "page_crossings": ROUNDS * sum(place % 4096 > 4088 for place in odd)})
        self.assertEqual(culprits[0]["access"]["bytes"], 8)
        self.assertTrue(culprits[0]["access"]["load"])
        findings = self.findings(report, "unaligned-access", at_least="info")
        named = [where["line"] for finding in findings for where in finding["where"]]
        self.assertIn(line_of("culprit: weight"), named)  # which of the culprits costs most depends on the machine
        self.assertEqual(self.findings(report, "split-lock", at_least="info"), [])
        culprits = [line_of(f"culprit: {name}") for name in ("weight", "clear", "fill", "read")]
        for finding in findings:  # nothing but what the program does wrong
            for where in finding["where"]:
                self.assertIn(where["line"], culprits, finding)

    def test_listing(self):
        self.record_mode("exact", COUNT, ROUNDS, 0)
        lines = self.sites()
        culprit = [line for line in lines if f"align_records.c:{line_of('culprit: weight')}: " in line]
        self.assertEqual(len(culprit), 1, lines)
        self.assertIn("unaligned 8-byte load of", culprit[0])
        self.assertIn(f"{ROUNDS * COUNT * 7 // 8:,} times exact", culprit[0])
        self.assertEqual(self.sites("--only-file", "align_*.c"), [line for line in lines if "align_records.c:" in line])
        self.assertTrue(self.sites("--only-file", "nothing.c")[0].startswith("plumb: no unaligned access"))

    def test_split_locks(self):
        report = self.record_mode("exact", 8, 1, LOCKS)
        findings = self.findings(report, "split-lock", at_least="info")
        self.assertEqual(len(findings), 1, report["accesses"])
        finding = findings[0]
        self.assertEqual(finding["where"][0]["line"], line_of("culprit: counter"))
        self.assertEqual(finding["evidence"]["split_lock_count"], LOCKS)
        self.assertTrue(finding["evidence"]["counted_exactly"])
        # Microseconds or hundreds of them each: the machine decides whether their cure gains anything.
        gained_s = finding["gain"]["fraction"] * report["run"]["seconds"]
        self.assertEqual(finding["severity"] == "info", finding["gain"]["fraction"] < 0.01 or gained_s < 0.02, finding)
        self.assertEqual(finding["evidence"]["cause"], "packed structure", finding)

    def test_find_names_the_same_line(self):
        report = self.record_mode("find", 100_000, 500, 0)
        culprits = self.at(report, "culprit: weight")
        self.assertEqual(len(culprits), 1, report["accesses"])
        self.assertFalse(culprits[0]["trapped"]["exact"])
        self.assertLessEqual(culprits[0]["trapped"]["count"], 500 * 87_500)
        self.assertEqual(self.at(report, "decoy: weight"), [])


if __name__ == "__main__":
    unittest.main()
