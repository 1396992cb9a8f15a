"""The space of trace files: a process cuts its own file when it ends. What a killed one leaves is cut when no process has it
open or mapped, and never before."""

import os
import subprocess
import sys
import time
import unittest

from plumb_test import PLUMB, PlumbTest
from shim_test import ShimTest
from trace_reader import Trace

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


class Killed(PlumbTest):
    def files(self, script):
        """The unclosed files of a program that is killed in the end."""
        done = subprocess.run([PLUMB, "run", "-q", "-o", self.run_directory, "--", sys.executable, "-c",
                               script + "\nos.kill(os.getpid(), 9)"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=60)
        self.assertEqual(done.returncode, 128 + 9)
        traces = [Trace(path) for path in self.run_directory.glob("process-*.plumb")]
        return [trace for trace in traces if not trace.closed]

    def test_space_comes_back(self):
        [trace] = self.files("import os, threading\nfor _ in range(100): threading.Thread(target=print, daemon=True).start()")
        self.assertEqual(trace.size, 256 + trace.used)
        self.assertTrue(trace.of("ThreadStart"))

    def test_not_while_a_child_shares_the_memory(self):
        """Its writer has ended, the mapping has not: the child was made by vfork, and waits to exec."""
        script = f"""
import ctypes, os, signal
libc = ctypes.CDLL(None)
CLONE_VM = 0x100
stack = ctypes.create_string_buffer(1 << 16)
libc.clone(ctypes.cast(libc.pause, ctypes.c_void_p), ctypes.c_void_p(ctypes.addressof(stack) + (1 << 16) - 64), CLONE_VM, None)
"""
        [trace] = self.files(script)
        size = trace.path.stat().st_size
        for process in [path for path in os.listdir("/proc") if path.isdigit()]: # only those of this very run
            try:
                with open(f"/proc/{process}/maps") as maps:
                    ours = str(trace.path) in maps.read()
            except OSError:
                continue
            if ours:
                os.kill(int(process), 9)
                break
        else:
            self.skipTest("the child did not come to live")
        self.assertGreater(size, 256 + trace.used)


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
