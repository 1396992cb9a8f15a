#!/usr/bin/env python3
"""plumb repeat: sets of runs, two commands in turns; commands that fail, a full disk, and Ctrl-C in the middle."""

import json
import os
import signal
import subprocess
import time
import unittest

from page_test import Outline
from plumb_test import PLUMB, PlumbTest, breaches, has_mount_namespaces

ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
RUNS = 6
SMALL_DISK = "3m"


class Repeat(PlumbTest):
    def setUp(self):
        super().setUp()
        self.folder = self.scratch / "set"

    def repeat(self, *arguments, command=("true",)):
        return subprocess.run([PLUMB, "repeat", "-o", self.folder, *map(str, arguments), "--", *command], capture_output=True, text=True,
                              timeout=300, env=ENVIRONMENT)

    def test_a_set_of_runs_with_their_output_and_its_spread(self):
        done = self.repeat("-n", RUNS, "--format", "json", command=["sh", "-c", "read line; echo one; echo two >&2; sleep 0.1"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        self.assertEqual((result["schema"], result["asked_runs"], result["stopped"]), ("plumb-repetition/1", RUNS, None))
        self.assertEqual(breaches(result, "repetition"), [])
        command, = result["commands"]
        self.assertEqual(len(command["runs"]), RUNS)
        walls = sorted(run["wall_seconds"] for run in command["runs"])
        wall = command["wall_seconds"]
        self.assertAlmostEqual(wall["median"], (walls[RUNS // 2 - 1] + walls[RUNS // 2]) / 2)
        self.assertEqual((wall["least"], wall["most"]), (walls[0], walls[-1]))
        self.assertEqual(wall["median_95"], [walls[0], walls[-1]])  # of six, from the order of the values
        self.assertGreaterEqual(walls[0], 0.1)
        self.assertEqual(sorted(path.name for path in (self.folder / "runs").iterdir() if path.is_dir()),
                         [f"{number:03}" for number in range(1, RUNS + 1)])
        self.assertEqual((self.folder / "runs" / "003.out").read_text(), "one\n")
        self.assertIn("two\n", (self.folder / "runs" / "003.err").read_text())
        self.assertFalse((self.folder / "partial").exists())
        report = subprocess.run([PLUMB, "report", self.folder / "runs" / "001"], capture_output=True, text=True, timeout=60)
        self.assertEqual(report.returncode, 0, report.stderr)

    def test_the_page_of_two_commands_has_their_spread_and_what_changed(self):
        # Twelve pairs leave no doubt where one of them was disturbed; six do.
        done = self.repeat("-n", "12", "--warm-up", "0", "--versus", "sleep 0.4", "--format", "html", command=["sleep", "0.1"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        outline = Outline(done.stdout)
        sections = [attributes["id"] for name, attributes in outline.elements if name == "section"]
        self.assertEqual(sections[:2], ["series", "time"])
        for part in "base wall", "versus wall", "3 quarters", "in turns", "The wall time changed by +", str(self.folder):
            self.assertIn(part, outline.text)

    def test_the_page_of_one_command_has_its_spread(self):
        done = self.repeat("-n", RUNS, "--warm-up", "0", "--format", "html", command=["sleep", "0.1"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        outline = Outline(done.stdout)
        self.assertEqual([attributes["id"] for name, attributes in outline.elements if name == "section"][0], "series")
        for part in "Runs of sleep 0.1", f"{RUNS} runs count", "wall", "3 quarters", str(self.folder):
            self.assertIn(part, outline.text)

    def test_two_commands_in_turns_are_compared_pair_by_pair(self):
        script = f"echo $1 >>{self.scratch}/order; sleep $2"
        done = self.repeat("-n", RUNS, "--warm-up", "0", "--versus", f"sh -c '{script}' x b 0.3", "--format", "json",
                           command=["sh", "-c", script, "x", "a", "0.1"])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual((self.scratch / "order").read_text().split(), list("abbaabbaabba"))
        result = json.loads(done.stdout)
        comparison = result["comparison"]
        self.assertEqual(breaches(result, "repetition", apart=["comparison"]), [])
        self.assertEqual(breaches(comparison, "comparison"), [])
        self.assertTrue(comparison["is_paired"])
        self.assertEqual((comparison["base_runs"], comparison["other_runs"]), (RUNS, RUNS))
        self.assertTrue(comparison["wall"]["has_changed"], comparison["wall"])
        self.assertGreater(comparison["wall"]["ratio"], 1.5)
        again = subprocess.run([PLUMB, "compare", "--paired", self.folder / "base", self.folder / "versus", "--format", "json"],
                               capture_output=True, text=True, timeout=120)
        self.assertEqual(json.loads(again.stdout), comparison)

    def test_a_command_that_fails_half_the_time_counts_where_it_does_not(self):
        script = f"echo x >>{self.scratch}/count; test $(( $(wc -l <{self.scratch}/count) % 2 )) = 0 || {{ echo broken >&2; exit 3; }}"
        done = self.repeat("-n", RUNS, "--warm-up", "0", command=["sh", "-c", script])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("3 runs count; 3 runs failed and are not counted: exit status 3", done.stdout)
        self.assertIn("broken", done.stdout)
        self.assertEqual(len([path for path in (self.folder / "failed" / "runs").iterdir() if path.is_dir()]), 3)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

    def test_a_command_that_always_fails_ends_soon(self):
        done = self.repeat("-n", 50, command=["sh", "-c", "echo no such luck >&2; exit 4"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("every run failed", done.stdout)
        self.assertIn("no such luck", done.stdout)
        self.folder = self.scratch / "counted"
        counted = self.repeat("-n", 2, "--count-failures", command=["sh", "-c", "exit 4"])
        self.assertEqual(counted.returncode, 0)
        self.assertIn("2 runs count", counted.stdout)

    def test_ctrl_c_in_the_middle_reports_what_was_measured(self):
        script = f"echo x >>{self.scratch}/count; test $(wc -l <{self.scratch}/count) -lt 4 || sleep 100"
        started = subprocess.Popen([PLUMB, "repeat", "-n", "20", "--warm-up", "0", "-o", self.folder, "--", "sh", "-c", script],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.addCleanup(started.kill)
        while not (self.scratch / "count").exists() or len((self.scratch / "count").read_text()) < 8:
            self.assertIsNone(started.poll())
            time.sleep(0.05)
        started.send_signal(signal.SIGINT)
        output, errors = started.communicate(timeout=60)
        self.assertEqual((started.returncode, errors), (128 + signal.SIGINT, ""))
        self.assertIn("3 runs count", output)
        self.assertIn("before all 20 runs of each: Interrupt", output)
        self.assertFalse((self.folder / "partial").exists())

    def test_a_hangup_that_nohup_ignores_ends_nothing(self):
        started = subprocess.Popen(["nohup", PLUMB, "repeat", "-n", "2", "--warm-up", "0", "-o", self.folder, "--", "sh", "-c",
                                    f"echo x >>{self.scratch}/count; sleep 0.5"],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.addCleanup(started.kill)
        while not (self.scratch / "count").exists():
            self.assertIsNone(started.poll())
            time.sleep(0.05)
        started.send_signal(signal.SIGHUP)
        output, errors = started.communicate(timeout=60)
        self.assertEqual(started.returncode, 0, errors)
        self.assertIn("2 runs count", output)

    @unittest.skipUnless(has_mount_namespaces(), "no mount namespaces here")
    def test_a_full_disk_ends_the_series_with_what_there_is(self):
        self.folder.mkdir()
        script = f"mount -t tmpfs -o size={SMALL_DISK} none {self.folder} && {PLUMB} repeat -n 100 --warm-up 0 -o {self.folder}/set -- true"
        done = subprocess.run(["unshare", "-m", "sh", "-c", script], capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"\b[1-9]\d? runs? counts?\b")
        self.assertRegex(" ".join(done.stdout.split()),
                         r"before all 100 runs of each: run \d+ of runs was not recorded whole.* No space left")

    def test_what_cannot_be_meant_gets_a_sentence(self):
        self.folder.mkdir()
        done = self.repeat()
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("need a new folder", done.stderr)
        nothing = subprocess.run([PLUMB, "repeat", "-n", "3"], capture_output=True, text=True, timeout=60)
        self.assertEqual(nothing.returncode, 125)
        self.assertIn("no program to run", nothing.stderr)


if __name__ == "__main__":
    unittest.main()
