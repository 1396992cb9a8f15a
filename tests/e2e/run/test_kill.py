"""kill -9 of the program, of plumb, of both: the report tells what was recorded until then, and says what is missing."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest
from trace_reader import Trace


def child_of(pid):
    """The first child of a process, or None."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else None


class Kill(PlumbTest):
    def records(self, kind):
        """The run's raw records of one kind, as far as it is recorded by now."""
        done = subprocess.run([PLUMB, "dump", str(self.run_directory), "--format", "json", "--only", kind],
                              capture_output=True, text=True, timeout=60)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def start(self):
        """Records a program that would run for minutes; returns plumb and the program's pid when it was sampled."""
        recorder = subprocess.Popen([PLUMB, "run", "-o", str(self.run_directory), "--", str(PROGRAMS / "burn"), "300"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            program = child_of(recorder.pid)
            if program and self.run_directory.is_dir() and sum(r["samples"] for r in self.records("SampleSite")) > 20:
                return recorder, program
            time.sleep(0.1)
        self.fail("nothing was sampled")

    def check_report(self):
        """What was recorded is reported: the program, and the function in which it spent its time."""
        report = self.report()
        self.assertEqual(report["run"]["processes"], 1)
        self.assertIn("burn", " ".join(report["run"]["command"]))
        self.assertGreater(report["run"]["seconds"], 0)
        self.assertIn("burn_cpu", json.dumps(report["hot_lines"]))
        return report

    def notes(self, report):
        return "\n".join(report["run"]["notes"])

    def test_program(self):
        recorder, program = self.start()
        os.kill(program, signal.SIGKILL)
        _, printed = recorder.communicate(timeout=60)
        self.assertEqual(recorder.returncode, 128 + signal.SIGKILL)
        self.assertIn("SIGKILL", printed)
        report = self.check_report()
        self.assertTrue(report["run"]["complete"])
        self.assertEqual(report["run"]["exit_status"], 128 + signal.SIGKILL)
        self.assertIn(f"process {program} (burn) was killed by signal 9", self.notes(report))

    def test_plumb(self):
        recorder, program = self.start()
        os.kill(recorder.pid, signal.SIGKILL)
        recorder.wait()
        try:
            os.kill(program, 0)  # the program runs on
            report = self.check_report()
            self.assertFalse(report["run"]["complete"])
            self.assertIn("plumb did not finish recording this run", self.notes(report))
            self.assertIn(f"process {program} (burn) was killed or still runs", self.notes(report))
        finally:
            os.kill(program, signal.SIGKILL)

    def test_program_of_a_killed_plumb_ends_as_it_would_have(self):
        """Its output is whole, its own status what it would be; what it recorded after the kill is readable, too."""
        script = """
import threading, time
def work(number, results): results[number] = sum(i * number % 7 for i in range(100_000))
for _ in range(10):
    results = {}
    threads = [threading.Thread(target=work, args=(number, results)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    print(sorted(results.items()), flush=True)
    time.sleep(0.1)
raise SystemExit(7)
"""
        line = f'"$0" -c "$1" > "$2/output"; echo $? > "$2/status"; exit 7'
        bare = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
        recorder = subprocess.Popen([PLUMB, "run", "-o", str(self.run_directory), "--", "sh", "-c", line, sys.executable,
                                     script, str(self.scratch)], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        status, output = self.scratch / "status", self.scratch / "output"
        while time.monotonic() < deadline and not (output.exists() and output.read_text().count("\n") >= 2):
            time.sleep(0.02)
        recorder.kill()
        self.assertEqual(recorder.wait(), -signal.SIGKILL)
        while time.monotonic() < deadline and not (status.exists() and status.read_text()):
            time.sleep(0.05)
        self.assertEqual((output.read_text(), status.read_text()), (bare.stdout, f"{bare.returncode}\n"))
        traces = [Trace(path) for path in self.run_directory.glob("process-*.plumb")]
        self.assertIn((41, True), [(len(trace.of("ThreadStart")), trace.closed) for trace in traces])
        report = self.report()
        self.assertFalse(report["run"]["complete"])
        self.assertIn("plumb did not finish recording this run", self.notes(report))

    def test_both(self):
        recorder, program = self.start()
        os.kill(recorder.pid, signal.SIGSTOP)  # so that it cannot note the program's end
        os.kill(program, signal.SIGKILL)
        os.kill(recorder.pid, signal.SIGKILL)
        recorder.wait()
        report = self.check_report()
        self.assertFalse(report["run"]["complete"])
        self.assertIsNone(report["run"]["exit_status"])
        self.assertIn("plumb did not finish recording this run", self.notes(report))

    def test_while_it_runs(self):
        recorder, program = self.start()
        first = self.check_report()
        self.assertFalse(first["run"]["complete"])
        os.kill(program, signal.SIGTERM)
        recorder.communicate(timeout=60)
        last = self.check_report()
        self.assertTrue(last["run"]["complete"])
        self.assertGreaterEqual(last["run"]["seconds"], first["run"]["seconds"])

    def test_files_cut_off_anywhere(self):
        recorder, program = self.start()
        os.kill(program, signal.SIGTERM)
        recorder.communicate(timeout=60)
        traces = sorted(self.run_directory.glob("*.plumb"))
        whole = {trace: trace.read_bytes() for trace in traces}
        for eighths in range(8):
            for trace in traces:
                trace.write_bytes(whole[trace][:len(whole[trace]) * eighths // 8 + eighths])
            done = subprocess.run([PLUMB, "report", str(self.run_directory)], capture_output=True, text=True,
                                  timeout=60)
            if done.returncode == 0:
                self.assertEqual(done.stderr, "")
            else:  # no process was left in it: said in one line
                self.assertEqual(done.returncode, 125)
                self.assertRegex(done.stderr, r"\Aplumb: .* holds no recorded process.*\n\Z")


if __name__ == "__main__":
    unittest.main()
