"""examples/stacked-copies: the stacked launch is found and named, the cured one is not blamed for stacking."""

import os
import unittest

from plumb_test import PROGRAMS, TREE, PlumbTest

ALLOWED = sorted(os.sched_getaffinity(0))
SCRIPTS = TREE / "examples" / "stacked-copies"
SOLVER = PROGRAMS.parents[1] / "examples" / "stacked-copies" / "flow_solver"
COPIES, SWEEPS = len(ALLOWED), 700  # some seconds: enough intervals for the cost to stand out


@unittest.skipIf(len(ALLOWED) < 2, "needs two CPUs")
class StackedCopiesTest(PlumbTest):
    def stacking(self, script, *options):
        done = self.record(SCRIPTS / script, SOLVER, COPIES, SWEEPS, options=("-q", "--no-report", "--force", *options), check=0)
        self.assertEqual(done.stdout.count("largest change"), COPIES)
        self.assertEqual(len(set(done.stdout.splitlines())), 1)  # all copies computed the same
        report = self.report()
        self.busy = any("Other programs" in finding["title"] for finding in report["findings"])
        return [finding for finding in self.findings(report, "cpu-oversubscribed") if "share CPU" in finding["title"]]

    def test_the_stacked_launch_is_found(self):
        findings = self.stacking("stacked.sh")
        if not findings and self.busy:
            self.skipTest("other programs take the CPUs: nothing is left to win by spreading")
        if [finding["severity"] for finding in findings] != ["high"]:
            self.skip_if_cpus_were_stolen()  # little is left to win by spreading
        self.assertEqual(len(findings), 1)
        self.assertEqual(findings[0]["severity"], "high")
        self.assertEqual(findings[0]["subject"]["kind"], "cpu")
        self.assertEqual(int(findings[0]["subject"]["name"]), ALLOWED[0])
        self.assertIn("flow_solver.cpp", findings[0]["where"][0]["file"])
        self.assertIn("--pin=scatter", " ".join(advice.get("command", "") for advice in findings[0]["advice"]))

    def test_the_cured_launch_does_not_stack(self):
        self.assertEqual(self.stacking("side-by-side.sh", "--pin=scatter"), [])

    def test_pinning_cures_the_stacked_launch_too(self):
        self.assertEqual(self.stacking("stacked.sh", "--pin=scatter"), [])


if __name__ == "__main__":
    unittest.main()
