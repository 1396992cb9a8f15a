"""Signals, stops and deaths: the program under plumb run gets what it would get without it."""

import os
import pty
import resource
import signal
import subprocess
import time
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest
from recorder_trace import recorder_trace


def child_of(pid):
    """The first child of a process, or None."""
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as stat:
                    if int(stat.read().rsplit(")", 1)[1].split()[1]) == pid:
                        return int(entry)
            except OSError:
                pass
    return None


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.01)


class SignalTest(PlumbTest):
    def start(self, *command, **popen):
        process = subprocess.Popen([PLUMB, "run", "-o", str(self.run_directory), "--no-report", "--",
                                    *map(str, command)], stdout=subprocess.PIPE, text=True, **popen)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start_log(self, **popen):
        process = self.start(PROGRAMS / "signal_log", **popen)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process


class Forwarding(SignalTest):
    def test_each_signal_arrives_once(self):
        process = self.start_log()
        for name in ("HUP", "INT", "QUIT", "USR1", "USR2", "ALRM", "WINCH", "CONT"):
            os.kill(process.pid, getattr(signal, "SIG" + name))
            self.assertEqual(process.stdout.readline(), name + "\n")
        os.kill(process.pid, signal.SIGTERM)
        self.assertEqual(process.stdout.read(), "TERM\n")
        self.assertEqual(process.wait(), 3)

    def test_ignored_by_the_parent_is_forwarded_all_the_same(self):
        # nohup: the program that installs its own handler gets the signal.
        process = self.start_log(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        os.kill(process.pid, signal.SIGHUP)
        self.assertEqual(process.stdout.readline(), "HUP\n")
        os.kill(process.pid, signal.SIGTERM)
        self.assertEqual(process.wait(), 3)

    def test_death_by_a_forwarded_signal(self):
        process = self.start("sleep", "100")
        wait_until(lambda: child_of(process.pid))
        os.kill(process.pid, signal.SIGTERM)
        self.assertEqual(process.wait(), 128 + signal.SIGTERM)

    def test_timeout_around(self):
        line = ["timeout", "0.5", PLUMB, "run", "-o", str(self.run_directory), "--no-report", "--", "sleep", "100"]
        self.assertEqual(subprocess.run(line).returncode, 124)


class Terminal(SignalTest):
    def on_terminal(self, line):
        """Runs a shell line in a new session on a terminal; returns (pid, master descriptor)."""
        pid, master = pty.fork()
        if pid == 0:
            os.execvp("bash", ["bash", "--norc", "-c", line])
        self.addCleanup(os.close, master)
        return pid, master

    def read_until(self, master, text):
        seen = ""
        while text not in seen:
            seen += os.read(master, 4096).decode(errors="replace")
        return seen

    def test_interrupt_from_the_keyboard_arrives_once(self):
        pid, master = self.on_terminal(f"exec '{PLUMB}' run -o '{self.run_directory}' --no-report -- "
                                       f"'{PROGRAMS}/signal_log'")
        self.read_until(master, "ready")
        os.write(master, b"\x03")
        self.read_until(master, "INT")
        target = child_of(pid)
        os.kill(target, signal.SIGUSR1)
        between = self.read_until(master, "USR1")
        self.assertNotIn("INT", between, "the interrupt came twice")
        os.kill(target, signal.SIGTERM)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 3)

    def test_job_control(self):
        # An interactive shell stops the job with Ctrl-Z, and continues it in the foreground.
        pid, master = pty.fork()
        if pid == 0:
            os.environ["PS1"] = "prompt>"
            os.execvp("bash", ["bash", "--norc", "-i"])
        self.addCleanup(os.close, master)
        self.read_until(master, "prompt>")
        os.write(master, f"'{PLUMB}' run -o '{self.run_directory}' --no-report -- sh -c 'echo be\"\"gan; read x; "
                         f"echo got $x'\n".encode())
        self.read_until(master, "began")
        os.write(master, b"\x1a")
        self.read_until(master, "Stopped")
        os.write(master, b"fg\n")
        time.sleep(0.3)
        os.write(master, b"word\n")
        self.read_until(master, "got word")
        os.write(master, b"exit\n")
        os.waitpid(pid, 0)

    def test_hang_up(self):
        pid, master = self.on_terminal(f"exec '{PLUMB}' run -o '{self.run_directory}' --no-report -- sleep 100")
        wait_until(lambda: child_of(pid))
        target = child_of(pid)
        os.kill(pid, signal.SIGHUP)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 128 + signal.SIGHUP)
        self.assertFalse(os.path.exists(f"/proc/{target}"))


class StopsAndKills(SignalTest):
    def test_stop_is_seen_and_continue_goes_on(self):
        process = self.start_log()
        target = child_of(process.pid)
        os.kill(target, signal.SIGSTOP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]))
        self.assertEqual(state_of(target), "T")
        os.kill(process.pid, signal.SIGCONT)
        self.assertEqual(process.stdout.readline(), "CONT\n")
        os.kill(process.pid, signal.SIGTERM)
        self.assertEqual(process.wait(), 3)

    def test_continued_by_whoever_stopped_the_program(self):
        process = self.start_log()
        target = child_of(process.pid)
        os.kill(target, signal.SIGSTOP)
        wait_until(lambda: state_of(process.pid) == "T")
        os.kill(target, signal.SIGCONT)
        wait_until(lambda: state_of(process.pid) != "T")
        self.assertEqual(process.stdout.readline(), "CONT\n")
        os.kill(process.pid, signal.SIGTERM)
        self.assertEqual(process.stdout.read(), "TERM\n", "it was continued twice")
        self.assertEqual(process.wait(), 3)

    def test_killed_program(self):
        process = self.start(PROGRAMS / "burn", "100")
        wait_until(lambda: child_of(process.pid))
        time.sleep(1)
        os.kill(child_of(process.pid), signal.SIGKILL)
        self.assertEqual(process.wait(), 128 + signal.SIGKILL)
        trace = recorder_trace(self.run_directory)
        self.assertGreater(trace.sampled_ns(), 0)
        self.assertEqual(list(trace.gone().values())[0][0], signal.SIGKILL)

    def test_killed_recorder(self):
        process = self.start("sh", "-c", f"'{PROGRAMS}/burn' 1.5; echo done; exit 6")
        wait_until(lambda: child_of(process.pid))
        time.sleep(1)
        process.kill()
        process.wait()
        self.assertEqual(process.stdout.read(), "done\n", "the program did not survive the recorder")
        self.assertGreater(recorder_trace(self.run_directory).sampled_ns(), 0)

    def test_both_killed(self):
        process = self.start(PROGRAMS / "burn", "100")
        wait_until(lambda: child_of(process.pid))
        time.sleep(1)
        target = child_of(process.pid)
        os.kill(process.pid, signal.SIGKILL)
        os.kill(target, signal.SIGKILL)
        process.wait()
        trace = recorder_trace(self.run_directory)
        self.assertGreater(trace.sampled_ns(), 0)
        self.assertEqual(trace.flags & 1, 0, "nobody closed this file")

    def test_core_dump(self):
        with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
            pattern = file.read().strip()
        if pattern.startswith("|") or "/" in pattern:
            self.skipTest(f"cores go to {pattern}")
        unlimited = lambda: resource.setrlimit(resource.RLIMIT_CORE, (1 << 30, 1 << 30))
        self.record("sh", "-c", "kill -SEGV $$", options=["--no-report"], check=128 + signal.SIGSEGV,
                    cwd=self.scratch, preexec_fn=unlimited)
        self.assertEqual(len(list(self.scratch.glob("core*"))), 1)


if __name__ == "__main__":
    unittest.main()
