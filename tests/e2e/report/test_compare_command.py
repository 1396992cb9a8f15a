#!/usr/bin/env python3
"""plumb compare: sets of recorded runs, of which it is known what changed; limits; and what it says of input that cannot be meant."""

import json
import os
import subprocess
import unittest

from plumb_test import PLUMB, PlumbTest, breaches

RUNS = 5


def compare(*arguments):
    return subprocess.run([PLUMB, "compare", *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"})


class Compare(PlumbTest):
    def runs(self, name, seconds):
        folder = self.scratch / name
        folder.mkdir()
        for number in range(RUNS):
            self.run_directory = folder / f"run-{number}"
            self.record("sh", "-c", f"sleep {seconds + 0.01 * number}", options=["--no-report"], check=0)
        return folder

    def test_a_longer_program_is_longer_and_breaks_a_limit(self):
        base, longer = self.runs("base", 0.2), self.runs("longer", 0.4)
        done = compare(base, longer, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        self.assertEqual((result["schema"], result["base_runs"], result["other_runs"]), ("plumb-comparison/1", RUNS, RUNS))
        self.assertEqual(breaches(result, "comparison"), [])
        self.assertTrue(result["wall"]["has_changed"], result["wall"])
        self.assertGreater(result["wall"]["ratio"], 1.3)
        broken = compare(base, longer, "--fail-if", "wall > +3%")
        self.assertEqual(broken.returncode, 1)
        self.assertIn("this limit is broken: wall > +3%", broken.stderr)
        self.assertIn("more", broken.stdout)
        self.assertEqual(compare(base, longer, "--fail-if", "wall > +900%").returncode, 0)
        same = json.loads(compare(base, *sorted(base.iterdir()), "--format", "json").stdout)
        self.assertFalse(same["wall"]["has_changed"], same["wall"])
        self.assertAlmostEqual(same["wall"]["ratio"], 1)

    def test_single_runs_get_figures_and_no_verdict(self):
        self.record("true", options=["--no-report"], check=0)
        done = compare(self.run_directory, self.run_directory)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("With so few runs", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
        single = json.loads(compare(self.run_directory, self.run_directory, "--format", "json").stdout)
        self.assertEqual((single["is_known"], single["wall"]["ratio_95"], breaches(single, "comparison")), (False, None, []))
        self.assertNotEqual(breaches({**single, "wall": {**single["wall"], "ratio": 0}}, "comparison"), [])
        self.assertNotEqual(breaches({**single, "more": 1}, "comparison"), [])
        limited = compare(self.run_directory, self.run_directory, "--fail-if", "wall > 1%")
        self.assertEqual(limited.returncode, 125)
        self.assertIn("too few", limited.stderr)

    def test_what_cannot_be_meant_gets_a_sentence(self):
        (self.scratch / "empty").mkdir()
        pairs = self.scratch / "pairs"
        pairs.mkdir()
        for number in range(2):
            self.run_directory = pairs / str(number)
            self.record("true", options=["--no-report"], check=0)
        for arguments, says in ((["/nowhere", "/nowhere"], "No such file or directory"),
                                ([self.scratch / "empty", self.scratch / "empty"], "neither a run of plumb nor a folder with runs"),
                                ([self.scratch, self.scratch, "--fail-if", "wall"], "a figure and a change are needed"),
                                ([pairs, pairs, pairs, "--paired"], "each run of the base needs one beside it, and there are 2 and 4")):
            done = compare(*arguments)
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main()
