#!/usr/bin/env python3
"""plumb repeat on runs that differ for a planted reason: the reason has four fifths of the variance; even runs have none."""

import json
import subprocess
import unittest

import planted_variations as planted
from planted_variations import CPUS, LAST_CPU, WAITING
from plumb_test import PLUMB, PROGRAMS, PlumbTest, breaches

RUNS = 16
LEAST_SHARE = 0.2
BY_MACHINE = ["CPU time of other programs", "CPU time taken by the hypervisor"]
TRIES = 3  # others use the CPUs as well


class RunVariation(PlumbTest):
    def repeat(self, script, runs=RUNS):
        """The variation of `script`, in which $drawn is 0 or 1 by run."""
        folder = self.scratch / f"set{len(list(self.scratch.iterdir()))}"
        done = subprocess.run([PLUMB, "repeat", "-n", str(runs), "--warm-up", "0", "-o", folder, "--format", "json", "--", "sh", "-c",
                               planted.drawing(script, self.scratch / "count")], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        self.assertEqual(breaches(result, "repetition"), [])
        return result["commands"][0]["variation"]

    def check_condition(self, script, name, runs=RUNS):
        """Four fifths of the variance, but for what the machine adds: waiting for CPUs that others use, and its own changing speed."""
        for attempt in range(TRIES):
            variation = self.repeat(script, runs)
            if self.is_cause(variation, name):
                self.assertTrue(variation["is_known"])
                return variation
        self.fail(json.dumps(variation, indent=1))

    def is_cause(self, variation, name):
        by_machine = self.waiting(variation) + max(0, variation["unexplained_fraction"])
        wrong = [one["name"] for one in variation["conditions"] if name not in [one["name"], *one["equally"], *BY_MACHINE]]
        return not wrong and self.share(variation, name) >= max(LEAST_SHARE, 0.8 * (1 - by_machine))

    @staticmethod
    def share(variation, name):
        return sum(one["variance_fraction"] for one in variation["conditions"] if name in [one["name"], *one["equally"]])

    @staticmethod
    def waiting(variation):
        return sum(part["variance_fraction"] for part in variation["parts"] if part["name"] == WAITING)

    @unittest.skipUnless(len(CPUS) >= 2, "one CPU")
    def test_the_cpu(self):
        if LAST_CPU not in CPUS:
            self.skipTest("the last CPU may not be used")
        self.check_condition(planted.one_of_two_cpus(PROGRAMS), planted.CPU)

    def test_the_environment_moves_the_stack(self):
        for filling in range(4):
            variation = self.repeat(planted.environment_size(PROGRAMS, filling))
            if self.is_cause(variation, planted.ENVIRONMENT):
                return
        self.fail(json.dumps(variation, indent=1))

    def test_the_stack_is_elsewhere_in_each_run(self):
        variation = self.check_condition(planted.stack_position(PROGRAMS), planted.STACK, 30)
        self.assertIn("align", variation["conditions"][0]["advice"])

    def test_huge_pages(self):
        self.check_condition(planted.huge_pages(PROGRAMS), planted.HUGE_PAGES)

    def test_a_neighbour_on_the_same_cpu(self):
        for attempt in range(TRIES):
            variation = self.repeat(planted.neighbour(PROGRAMS))
            if variation["is_known"] and self.waiting(variation) >= 0.8:
                return
        self.fail(json.dumps(variation, indent=1))

    def test_even_runs_have_no_cause_but_what_other_programs_do(self):
        variation = self.repeat(planted.even(PROGRAMS))
        names = [one["name"] for one in variation["conditions"]]
        self.assertLessEqual(set(names), set(BY_MACHINE))
        if variation["is_known"] and not names:  # the machine's own speed changes, too
            self.assertTrue(variation["parts"][0]["name"] == WAITING or variation["unexplained_fraction"] >= 0.5, variation)


if __name__ == "__main__":
    unittest.main()
