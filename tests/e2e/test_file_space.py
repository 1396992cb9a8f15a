"""The space of trace files: a process cuts its own file when it ends, and nobody else ever does."""

import subprocess
import sys
import time
import unittest

from plumb_test import PLUMB, PlumbTest
from shim_test import ShimTest

# Waits until the recorder has ended, then needs more room than its file has: 1 KiB for each of its threads.
GROWS_LATE = """
import ctypes, sys, threading, time
def grow():
    time.sleep(2)
    for _ in range(300):
        threading.Thread(target=time.sleep, args=(0.5,)).start()
if sys.argv[1] == "pthread_exit":
    threading.Thread(target=grow).start()
    ctypes.CDLL(None).pthread_exit(None)
grow()
"""


def has_pid_namespaces():
    try:
        return subprocess.run(["unshare", "-Urpf", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


class LivingWriters(PlumbTest):
    def outlives_recorder(self, *prefix, way="plain"):
        """Starts it in the background of a program that ends at once; how it ended."""
        status = self.scratch / "status"
        command = " ".join([*prefix, sys.executable, "-c", '"$0"', way])
        done = subprocess.run([PLUMB, "run", "-o", self.run_directory, "--no-report", "--", "sh", "-c",
                               f"({command}; echo $? > {status}) & sleep 0.5", GROWS_LATE],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, 0)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and not (status.exists() and status.read_text()):
            time.sleep(0.05)
        return status.read_text().strip()

    def test_goes_on_after_the_recorder(self):
        self.assertEqual(self.outlives_recorder(), "0")

    def test_first_thread_has_ended(self):
        self.assertEqual(self.outlives_recorder(way="pthread_exit"), "0")

    @unittest.skipUnless(has_pid_namespaces(), "needs PID namespaces")
    def test_another_pid_namespace(self):
        self.assertEqual(self.outlives_recorder("unshare", "-Urpf"), "0")


class Closing(ShimTest):
    def test_ended_process_keeps_what_it_used(self):
        for program, arguments in (("ends", ["exit"]), ("many_threads", [100]), ("children", [])):
            with self.subTest(program):
                self.run_both(program, *arguments)
                closed = [trace for trace in self.traces() if trace.closed]
                self.assertTrue(closed)
                for trace in closed: # by exit and by exec
                    self.assertEqual(trace.path.stat().st_size, 256 + trace.used, trace.path.name)

    def test_failed_exec_goes_on(self):
        """It had closed its file: what it records from here on needs new room."""
        script = """
import os, threading
try:
    os.execv("/nowhere/program", ["program"])
except OSError:
    pass
threads = [threading.Thread(target=threading.Event().wait, args=(0.2,)) for _ in range(200)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""
        self.run_both(sys.executable, "-c", script)
        [trace] = [trace for trace in self.traces() if len(trace.of("ThreadStart")) > 1]
        self.assertEqual((len(trace.of("ThreadStart")), trace.dropped, trace.end), (201, 0, ("exit", 0)))


if __name__ == "__main__":
    unittest.main()
