#!/usr/bin/env python3
"""plumb system: whose time it is, beside programs of a known kind, and beside what the kernel accounts for."""

import json
import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest, breaches, may_run_as_nobody, of_times

CPUS = sorted(os.sched_getaffinity(0))
USER = ["python3", "-c", "while True: pass"]
KERNEL = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1M"]
IS_ROOT = os.geteuid() == 0
CONTAINER = ["unshare", "--pid", "--fork", "--mount-proc"]


def cpu_seconds():
    """(user, kernel) of all CPUs, as the kernel accounts for them."""
    with open("/proc/stat") as file:
        words = [int(word) / os.sysconf("SC_CLK_TCK") for word in file.readline().split()[1:]]
    return words[0] + words[1], words[2]


def plumb(*arguments):
    return subprocess.run([PLUMB, *map(str, arguments)], capture_output=True, text=True, timeout=60)


class Looked(PlumbTest):
    def look(self, *options, command=(PLUMB,), run=None, **more):
        into = ("-o", str(run or self.run_directory), "--force", "--format", "json")
        done = subprocess.run([*map(str, command), "system", *into, *options], capture_output=True, text=True, timeout=120, **more)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        # Evidence and subjects have keys of their own for each finding.
        self.assertEqual([one for one in breaches(report, "report") if ".evidence." not in one and "[].subject." not in one], [])
        return report

    def beside(self, command, cpu=None):
        """A program that runs until the test ends; its own from its first moment on."""
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   preexec_fn=None if cpu is None else lambda: os.sched_setaffinity(0, [cpu]))
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        time.sleep(0.2)
        return running.pid

    def program(self, system, name):
        return next((program for program in system["programs"] if program["name"].startswith(name)), None)


class Truth(Looked):
    @of_times
    def test_programs_and_their_kernel_time(self):
        self.beside(USER, CPUS[-1])
        dd = self.beside(KERNEL, CPUS[0])
        before = cpu_seconds()
        report = self.look("--time", "4s")
        user, kernel = (after - first for after, first in zip(cpu_seconds(), before))
        system = report["system"]
        python, of_dd = self.program(system, "python3"), self.program(system, "dd")
        self.assertIsNotNone(python, system["programs"][:5])
        self.assertIsNotNone(of_dd, system["programs"][:5])
        self.assertEqual(of_dd["pid"], dd)
        self.assertLess(python["kernel_seconds"], 0.1 * python["user_seconds"])
        self.assertGreater(of_dd["kernel_seconds"], 3 * of_dd["user_seconds"])
        # As the kernel accounts for it, in a little more time.
        self.assertLess(abs(system["time"]["user_seconds"] - user), 0.1 * user + 0.3)
        self.assertLess(abs(system["time"]["kernel_seconds"] - kernel), 0.1 * kernel + 0.3)
        named = sum(program["user_seconds"] + program["kernel_seconds"] for program in system["programs"])
        self.assertAlmostEqual(named, system["time"]["user_seconds"] + system["time"]["kernel_seconds"], delta=0.1 * named + 0.2)
        for cpu in system["cpus"]:
            self.assertAlmostEqual(sum(cpu[key] for key in cpu if key.endswith("_seconds")), system["seconds"], delta=0.25)
        if not system["is_sampled"]:
            missing = [one["source"] for one in report["evidence"] if one["state"] == "missing"]
            self.assertIn("perf-sampling", missing)
            return
        self.assertTrue(of_dd["kernel_routine"])
        self.assertEqual(system["kernel_routines"][0]["program"], "dd")
        # dd is there to call read: said, with no gain for certain.
        findings = [one for one in report["findings"] if one["id"] == "kernel-time"]
        self.assertTrue(any("dd spends" in one["title"] and one["severity"] == "info" for one in findings), findings)

    @of_times
    def test_two_on_one_cpu_beside_an_idle_one(self):
        if len(CPUS) < 2:
            self.skipTest("one CPU")
        pids = [self.beside(USER, CPUS[0]), self.beside(USER, CPUS[0])]
        report = self.look("--time", "4s")
        found = self.findings(report, "cpu-oversubscribed", "high")
        self.assertEqual(len(found), 1, report["findings"])
        self.assertEqual(str(found[0]["subject"]["name"]), str(CPUS[0]))
        self.assertAlmostEqual(found[0]["cost"]["fraction"], 0.5, delta=0.06)
        self.assertAlmostEqual(report["system"]["waiting_threads"], 1, delta=0.15)
        # The command that it gives cures it.
        command = found[0]["advice"][0]["command"]
        self.assertEqual({int(pid) for pid in re.findall(r"-p \S+ (\d+)", command)}, set(pids))
        subprocess.run(["sh", "-c", command], check=True, capture_output=True)
        time.sleep(0.3)
        report = self.look("--time", "4s")
        self.assertEqual(self.findings(report, "cpu-oversubscribed"), [])
        self.assertLess(report["system"]["waiting_threads"], 0.2)

    @of_times
    def test_one_program_a_cpu_is_no_finding(self):
        for cpu in CPUS:
            self.beside(USER, cpu)
        report = self.look("--time", "4s")
        stolen = report["system"]["time"]["steal_seconds"] / (report["system"]["seconds"] * len(CPUS))
        for finding in report["findings"]:
            if stolen > 0.01 and finding["subject"]["name"] == "hypervisor":
                continue
            self.assertEqual(finding["severity"], "info", finding)

    @of_times
    def test_what_takes_a_cpu_now_and_then(self):
        self.beside(USER, CPUS[-1])
        self.beside([PROGRAMS / "periodic_daemon", str(CPUS[-1]), "20", "500", "9"])
        report = self.look("--time", "6s")
        found = [one for one in self.findings(report, "os-noise", "low") if "periodic_daemo" in one["title"]]
        self.assertEqual(len(found), 1, report["findings"])
        self.assertAlmostEqual(found[0]["cost"]["fraction"], 0.04, delta=0.012)

    @of_times
    def test_only_the_cpus_that_were_asked_for(self):
        if len(CPUS) < 2:
            self.skipTest("one CPU")
        self.beside(USER, CPUS[-1])
        system = self.look("--time", "2s", "--cpus", str(CPUS[0]))["system"]
        self.assertEqual([cpu["cpu"] for cpu in system["cpus"]], [CPUS[0]])
        python = self.program(system, "python3")
        self.assertLess(python["user_seconds"] if python else 0, 0.3)

    @unittest.skipUnless(may_run_as_nobody(PLUMB), "cannot run as another user")
    @of_times
    def test_without_privileges(self):
        """Of programs that belong to others as well: root's here."""
        dd = self.beside(KERNEL, CPUS[0])
        self.scratch.chmod(0o777)
        command = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", PLUMB)
        report = self.look("--time", "4s", command=command, run=self.scratch / "nobodys")
        system = report["system"]
        of_dd = self.program(system, "dd")
        self.assertEqual((of_dd["pid"], of_dd["is_kernel"]), (dd, False))
        self.assertAlmostEqual(of_dd["kernel_seconds"] + of_dd["user_seconds"], 4, delta=0.6)
        self.assertGreater(of_dd["kernel_seconds"], 3 * of_dd["user_seconds"])
        if not system["is_sampled"]:
            missing = next(one for one in report["evidence"] if one["source"] == "perf-sampling")
            self.assertEqual(missing["state"], "missing")
            self.assertIn("perf_event_paranoid", missing["why"] + missing["enable"])
            self.assertEqual(system["kernel_routines"], [])

    @unittest.skipUnless(may_run_as_nobody(PLUMB), "cannot run as another user")
    @of_times
    def test_what_lives_too_short_to_be_seen_is_reported(self):
        self.beside(["sh", "-c", "while :; do /bin/true; done"], CPUS[0])
        self.scratch.chmod(0o777)
        command = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all", PLUMB)
        system = self.look("--time", "4s", command=command, run=self.scratch / "nobodys")["system"]
        if system["is_sampled"]:
            self.skipTest("anyone may sample here: all programs are seen")
        named = sum(program["user_seconds"] + program["kernel_seconds"] for program in system["programs"])
        used = system["time"]["user_seconds"] + system["time"]["kernel_seconds"]
        self.assertAlmostEqual(system["unseen_seconds"], max(0, used - named), delta=0.01)
        self.assertGreater(system["unseen_seconds"], 0.5) # of 4: of all that runs there only the shell lives long enough
        self.assertIn("programs that were not seen", system["verdict"])


class Kernel(Looked):
    @unittest.skipUnless(IS_ROOT and os.access("/dev/kmsg", os.W_OK), "cannot write to the kernel's log")
    def test_split_locks_of_the_kernels_log(self):
        """A line as the kernel writes it, planted in its log."""
        looking = subprocess.Popen([PLUMB, "system", "-q", "-o", str(self.run_directory), "--time", "3s", "--no-report"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1)
        try:
            line = "<4>x86/split lock detection: #AC: planted/4242 took a split_lock trap at address: 0x401234\n"
            pathlib.Path("/dev/kmsg").write_text(line)
        except OSError as error:
            looking.kill()
            looking.communicate()
            self.skipTest(f"cannot write to the kernel's log: {error}")
        out, err = looking.communicate(timeout=60)
        self.assertEqual(looking.returncode, 0, err)
        report = self.report()
        found = [one for one in report["findings"] if one["id"] == "split-lock"]
        self.assertEqual(len(found), 1, (report["findings"], report["evidence"]))
        self.assertIn("planted", found[0]["title"])
        self.assertIn("1 message", found[0]["title"])
        again = self.look("--time", "300ms")  # in the same directory: what was written then does not count
        self.assertEqual([one for one in again["findings"] if one["id"] == "split-lock"], [])


class History(Looked):
    def test_intervals_and_one_of_them(self):
        history = self.scratch / "node.history"
        history.write_text("half a li")  # what a crash left
        done = plumb("system", "--every", "1s", "--history", history, "--time", "3s")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        lines = [json.loads(line) for line in history.read_text().splitlines()[1:]]
        self.assertIn(len(lines), (2, 3))
        for line in lines:
            self.assertEqual(breaches(line, "system-history", apart=("system",)), [])
        for before, after in zip(lines, lines[1:]):
            self.assertLess(after["begin_unix_seconds"] - before["end_unix_seconds"], 0.7)
        self.assertAlmostEqual(lines[0]["begin_unix_seconds"], time.time() - 3, delta=2)
        history.write_text("".join(history.read_text().splitlines(keepends=True)[1:]))
        text = plumb("report", history)
        self.assertEqual((text.returncode, text.stderr), (0, ""))
        self.assertIn(f"{len(lines)} intervals of ", text.stdout)
        at = int((lines[1]["begin_unix_seconds"] + lines[1]["end_unix_seconds"]) / 2 + 0.5)
        one = plumb("report", history, "--at", f"@{at}", "--format", "json")
        found = json.loads(one.stdout)
        self.assertLessEqual(abs((found["begin_unix_seconds"] + found["end_unix_seconds"]) / 2 - at), 1.2)
        local = time.strftime("%H:%M:%S", time.localtime(at))
        by_clock = plumb("report", history, "--at", local, "--format", "json")
        self.assertEqual(json.loads(by_clock.stdout), found)
        far = plumb("report", history, "--at", "2001-01-01")
        self.assertIn("No interval holds 2001-01-01", far.stdout)

    def test_a_signal_ends_it_with_the_line_of_what_was_seen(self):
        history = self.scratch / "node.history"
        environment = {**os.environ, "TMPDIR": str(self.scratch)}
        running = subprocess.Popen([PLUMB, "system", "--every", "10m", "--history", history], env=environment)
        time.sleep(1.5)
        running.send_signal(signal.SIGTERM)
        self.assertEqual(running.wait(timeout=60), 0)
        [line] = history.read_text().splitlines()
        self.assertLess(json.loads(line)["system"]["seconds"], 30)
        self.assertEqual([path.name for path in self.scratch.iterdir()], ["node.history"])  # nothing temporary is left

    def test_what_is_no_history(self):
        for arguments, says in ((["system", "--every", "10m"], "--history"), (["system", "--history", "x"], "--every"),
                                (["system", "--every", "10", "--history", "x"], "a time with its unit"),
                                (["system", "--every", "1s", "--history", self.scratch / "no" / "where"], "No such file"),
                                (["report", self.scratch, "--at", "14:30"], "--at"),
                                (["report", __file__, "--at", "14:30"], "--at")):
            done = plumb(*arguments)
            self.assertEqual((done.returncode, done.stdout), (125, ""), done)
            self.assertIn(says, done.stderr)


class Command(Looked):
    def test_ctrl_c_prints_the_report(self):
        running = subprocess.Popen([PLUMB, "system", "-q", "-o", self.run_directory, "--time", "60s"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=60)
        self.assertEqual((running.returncode, err), (0, ""))
        self.assertRegex(out, r"CPUs? in [0-9.]+ s: ")
        again = plumb("report", self.run_directory)
        self.assertEqual((again.returncode, again.stdout), (0, out))
        page = self.scratch / "page.html"
        html = plumb("report", self.run_directory, "--format", "html", "-o", page)
        self.assertEqual((html.returncode, html.stderr), (0, ""))
        self.assertIn("Whose time it was", page.read_text())

    @unittest.skipUnless(IS_ROOT and subprocess.run([*CONTAINER, "true"], capture_output=True).returncode == 0,
                         "cannot make a PID namespace")
    def test_in_a_container(self):
        """What runs outside is not named, and the report says so; the CPUs' time is all there."""
        outside = self.beside(KERNEL, CPUS[0])
        report = self.look("--time", "2s", command=(*CONTAINER, PLUMB))
        self.assertNotIn(outside, [program["pid"] for program in report["system"]["programs"]])
        self.assertGreater(report["system"]["time"]["kernel_seconds"], 1)
        limited = next(one for one in report["evidence"] if one["source"] == "processes")
        self.assertIn("PID namespace", limited["why"])

    def test_redacted(self):
        self.beside(["python3", "-c", "import time; time.sleep(60) # tell-nobody"])
        for options, is_told in ([], True), (["--redact"], False):
            self.look("--time", "1s", *options)
            told = any(b"tell-nobody" in path.read_bytes() for path in self.run_directory.rglob("*"))
            self.assertEqual(told, is_told)

    def test_what_cannot_be(self):
        for options, says in ((["--cpus", "4095"], "is not there"), (["--cpus", "x"], "not a list"), (["--time", "0"], "--time"),
                              (["--rate", "0"], "--rate")):
            done = plumb("system", "-o", self.scratch / "none", *options)
            self.assertEqual((done.returncode, done.stdout), (125, ""), done)
            self.assertIn(says, done.stderr)
            self.assertFalse((self.scratch / "none").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
