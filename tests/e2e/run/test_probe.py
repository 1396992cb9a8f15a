#!/usr/bin/env python3
"""plumb probe: a planted spinner is found on its CPU; history, what is slower than before, looks beside a load, bad days."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

from plumb_test import PLUMB, PlumbTest, breaches, may_run_as_nobody

CPUS = sorted(os.sched_getaffinity(0))
ENVIRONMENT = {**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"}
SHORT = "3s"
TRIES = 4
SPIN = "while True: pass"


def go_first():
    """Where it may, this process and what it starts goes before what else runs on the machine: within its session, and its session
    (which is a group to many kernels' schedulers) among others."""
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -15)
        os.setsid()
        with open("/proc/self/autogroup", "w") as file:
            file.write("-15")
    except OSError:
        pass


class Probe(PlumbTest):
    def setUp(self):
        super().setUp()
        self.history = self.scratch / "history" / "probe.sqlite"

    def probe(self, *arguments, timeout=120, **popen):
        return subprocess.run([PLUMB, "probe", *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                              env=ENVIRONMENT, cwd=self.scratch, **popen)

    def measured(self, *arguments):
        """The JSON of a short probe, whatever its verdict."""
        done = self.probe("--time", SHORT, "--format", "json", *arguments)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertEqual(done.stderr, "")
        result = json.loads(done.stdout)
        self.assertEqual(breaches(result, "probe"), [])
        self.assertEqual(done.returncode, int(result["is_sick"]))
        is_slower = bool(result["against"] and result["against"]["is_slower"])
        self.assertEqual(result["is_sick"], bool(result["slow_cpus"]) or is_slower)
        return result

    def spinner(self, cpu):
        started = subprocess.Popen([sys.executable, "-c", f"import os; os.sched_setaffinity(0, [{cpu}])\n{SPIN}"])
        self.addCleanup(started.wait)
        self.addCleanup(started.kill)
        return started

    def test_every_part_of_the_machine_has_a_figure_and_is_kept(self):
        result = self.measured("--history", self.history)
        places = {(figure["test"], figure["place"]): figure for figure in result["figures"]}
        for cpu in CPUS:
            for test in ("compute", "cache", "memory latency", "memory read", "core clock"):
                self.assertIn((test, f"CPU {cpu}"), places)
            value = lambda test: places[test, f"CPU {cpu}"]["median"]
            self.assertGreater(value("memory latency"), value("cache"))
            self.assertGreater(value("cache"), value("compute"))
            self.assertTrue(3e8 < value("core clock") < 1e10, value("core clock"))
        self.assertIn(("memory latency", "small pages"), places)
        self.assertIn(("write", "disk"), places)
        self.assertIn(("memory read", "1 copy"), places)
        if len(CPUS) > 1:
            self.assertGreaterEqual(result["shared"]["pairs"], 1)
            self.assertIn(("memory read", f"{len(CPUS)} copies"), places)
        self.assertEqual([path.name for path in self.scratch.iterdir()], ["history"])  # the file on the disk is gone
        for figure in result["figures"]:
            if figure["median_95"]:
                low, high = figure["median_95"]
                self.assertTrue(figure["least"] <= low <= figure["median"] <= high <= figure["most"], figure)

        with sqlite3.connect(self.history) as file:
            rows = {(test, place): median for test, place, median in file.execute("SELECT test, place, median FROM figure")}
        self.assertEqual(rows, {key: figure["median"] for key, figure in places.items()})
        listed = self.probe("--list", "--history", self.history)
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        self.assertIn("1 probe\n", listed.stdout)
        self.assertIn(result["probe"]["host"], listed.stdout)
        as_json = json.loads(self.probe("--list", "--history", self.history, "--format", "json").stdout)
        self.assertEqual([probe["id"] for probe in as_json["probes"]], [result["history"]["id"]])

    @unittest.skipIf(len(CPUS) < 2, "needs two CPUs")
    def test_a_cpu_with_a_spinner_is_found_and_one_without_is_not(self):
        # Other programs may keep the CPUs as busy as the spinner does: tried again, each time on the other CPU.
        seen = []
        for attempt in range(TRIES):
            own, other = CPUS[attempt % 2], CPUS[1 - attempt % 2]
            spinner = self.spinner(own)
            result = self.measured("--no-history", "--cpus", f"{own},{other}")
            spinner.kill()
            spinner.wait()
            share = {one["cpu"]: one["had_cpu_share"] for one in result["cpus"]}
            slow = [one for one in result["slow_cpus"] if one["cpu"] == own]
            seen.append((share[other], result["slow_cpus"], result["cpus"]))
            compute = next((one for one in slow if one["test"] == "compute"), None)
            if not compute:
                continue
            self.assertEqual(compute["cause"], "others")
            self.assertGreater(compute["slowdown"], 1.3)
            self.assertIn(spinner.pid, [thread["pid"] for thread in compute["seen_there"]])
            self.assertEqual([one for one in result["slow_cpus"] if one["cpu"] == other], [])
            return
        # Where the other CPU was left alone, it had to be found.
        self.assertLess(max(share for share, _, _ in seen), 0.85, seen)
        self.skipTest("others kept all CPUs busy in every try")

    def test_against_the_last_probe_and_against_one_that_was_faster(self):
        first = self.measured("--history", self.history)
        again = self.measured("--history", self.history, "--against", "last", "--limit", "10000")
        self.assertEqual(again["against"]["probe"]["id"], first["history"]["id"])
        self.assertFalse(again["is_sick"])
        self.assertGreater(len(again["against"]["changes"]), 10)
        with sqlite3.connect(self.history) as file:  # as if the machine had been ten thousand times faster
            file.execute("UPDATE figure SET median = median / 1e4, low = low / 1e4, high = high / 1e4 "
                         "WHERE probe = ? AND unit = 's'", [first["history"]["id"]])
        slower = self.probe("--time", SHORT, "--history", self.history, "--against", first["history"]["id"])
        self.assertEqual(slower.returncode, 1, slower.stderr)
        self.assertRegex(slower.stdout, r"Against probe 1 .*\n(.*\n)*.* became slower")
        self.assertLessEqual(max(map(len, slower.stdout.splitlines())), 100)

    def test_looks_beside_a_load(self):
        looks = self.probe("--every", "1200ms", "--time", "1s", "--for", "4s", "--format", "json", timeout=60)
        self.assertEqual((looks.returncode, looks.stderr), (0, ""))
        result = json.loads(looks.stdout)
        self.assertEqual(breaches({key: value for key, value in result.items() if key != "looks"}, "probe-watch"),
                         ["'looks' is a required property"])
        for look in result["looks"]:
            self.assertEqual(set(look), {"begin_seconds", "slowness", "programs", "groups"})
            self.assertEqual(set(look["slowness"]), {"compute", "cache", "memory latency", "memory read", "wait for a CPU"})
            self.assertGreaterEqual(look["slowness"]["wait for a CPU"], 0.99)
        self.assertTrue({one["verdict"] for one in result["suspects"]} <= {"cannot tell"}, result["suspects"])  # of three looks
        text = self.probe("--every", "1s", "--time", "1s", "--for", "2s", timeout=60)
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertIn("cannot tell", text.stdout)

    def test_ctrl_c_in_the_middle_reports_what_was_measured(self):
        for options, words in ((["--time", "60s", "--history", self.history], r"ended +by a signal"),
                               (["--every", "1s", "--time", "1s"], "watched")):
            started = subprocess.Popen([PLUMB, "probe", *map(str, options)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, env=ENVIRONMENT, cwd=self.scratch)
            self.addCleanup(started.kill)
            time.sleep(4)
            self.assertIsNone(started.poll())
            started.send_signal(signal.SIGINT)
            output, errors = started.communicate(timeout=30)
            self.assertEqual((started.returncode, errors), (130 if "--history" in options else 0, ""))
            self.assertRegex(output, words)
        kept = json.loads(self.probe("--list", "--history", self.history, "--format", "json").stdout)
        self.assertEqual(kept["probes"], [])  # of half a probe nothing is kept

    def test_what_cannot_be_meant_gets_a_sentence_at_once(self):
        corrupt = self.scratch / "corrupt"
        corrupt.write_bytes(b"no database at all " * 500)
        for options, sentence in ((["--cpus", "0-"], "is no list of CPUs"),
                                  (["--cpus", "65000"], "this machine has no CPU 65000"),
                                  (["--time", "1"], "a time with its unit"), (["--time", "1ms"], "at least 1s"),
                                  (["--history", corrupt], "file is not a database"),
                                  (["--history", self.scratch], "cannot open the history"),
                                  (["--history", "/proc/no/such"], "unable to open"),
                                  (["--history", self.history, "--against", "last"], "no probe of this machine"),
                                  (["--history", self.history, "--against", "tomorrow"], "a date as"),
                                  (["--history", self.history, "--against", "7"], "has no probe 7"),
                                  (["--no-history", "--against", "last"], "does not go with"),
                                  (["--list", "--history", self.scratch / "none"], "unable to open"),
                                  (["--every", "1s"], "at least the 2.00 s of a look"),
                                  (["--for", "1s"], "--for is the duration")):
            began = time.monotonic()
            done = self.probe(*options)
            self.assertEqual((done.returncode, done.stdout), (125, ""), options)
            self.assertIn(sentence, done.stderr)
            self.assertLess(time.monotonic() - began, 10)

    @unittest.skipUnless(may_run_as_nobody(PLUMB), "no other user, or the build is closed to others")
    def test_a_default_history_that_cannot_be_written_is_no_reason_not_to_probe(self):
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        done = subprocess.run([*nobody, PLUMB, "probe", "--time", "1s", "--folder", "/proc"], capture_output=True, text=True,
                              timeout=60, env={**ENVIRONMENT, "XDG_DATA_HOME": "/root/none"}, cwd="/")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertIn("this probe is not kept", done.stderr)
        self.assertRegex(done.stdout, r"Disk: no file can be made in /proc")


if __name__ == "__main__":
    go_first()
    unittest.main()
