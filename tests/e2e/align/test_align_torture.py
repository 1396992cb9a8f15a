"""The alignment trap's bad days: programs behave under it as they do alone, output and status, in both modes."""

import shutil
import subprocess
import time
import unittest

from plumb_test import PROGRAMS
from shim_test import SHIM, SHIM_PROGRAMS, ShimTest

TORTURE = PROGRAMS / "torture"
STRINGS = SHIM.parent / "strings" / "libplumb-strings.so"
PYTHON = "/usr/bin/python3"


class Torture(ShimTest):
    def same(self, *command, recorded=True, **variables):
        """Bare, in find and in exact mode; the trap must have been at work in each process it says it was."""
        if not shutil.which(str(command[0])):
            self.skipTest(f"{command[0]} is not installed")
        bare = self.run_bare(*command, **variables)
        for mode, preload in (("find", None), ("exact", str(STRINGS))):
            with self.subTest(mode):
                watched = self.run_shimmed(*command, PLUMB_ALIGN=mode, LD_PRELOAD=preload, **variables)
                self.assertEqual((bare.returncode, bare.stdout, bare.stderr),
                                 (watched.returncode, watched.stdout, watched.stderr))
                states = [entry["state"] for trace in self.traces() for entry in trace.of("Evidence")
                          if entry["source"] == "alignment-trap"]
                self.assertTrue(states or not recorded, "the trap said nothing of itself")
                for trace in self.traces():
                    trace.path.unlink()
        return bare

    def program(self, name, expected_status=0):
        bare = self.same(TORTURE / name)
        self.assertEqual(bare.returncode, expected_status, bare.stderr)

    def test_own_handlers(self):
        self.program("own_handlers", -7)

    def test_masks(self):
        self.program("masks")

    def test_jumps(self):
        self.program("jumps")

    def test_exceptions(self):
        self.program("throws_armed")

    def test_code_that_handlers_may_not_read(self):
        for hz in ("0", "250"):
            bare = self.same(TORTURE / "protected_code", PLUMB_TIMER_HZ=hz)
            if bare.returncode == 77:
                self.skipTest("the processor or its kernel has no memory protection keys")
            self.assertEqual(bare.returncode, 0)

    def test_misaligned_and_unmapped(self):
        self.program("faults", -11)

    def test_children(self):
        self.program("children_armed", 3)

    def test_steps_that_the_kernel_reports_as_something_else(self):
        self.program("steps_misreported")

    def test_waits_are_not_interrupted_by_ticks(self):
        self.program("short_waits")

    def test_64_threads(self):
        self.program("crowd")

    def test_ignored_signals_stay_ignored_over_exec(self):
        self.program("ignored", 3)

    def test_threads_and_clocks_of_the_c_library(self):
        self.program("notified")

    def test_threads_and_processes_started_past_the_hooks(self):
        self.program("started_past_hooks", 4)

    def test_threads_started_past_the_hooks_are_told(self):
        # 12 by the C library's own function, 5 by clone.
        self.run_both(TORTURE / "started_past_hooks", PLUMB_ALIGN="exact")
        traces = self.traces()
        evidence = {entry["source"]: entry for trace in traces for entry in trace.of("Evidence")}
        if evidence["alignment-trap"]["state"] == 3:
            self.skipTest(evidence["alignment-trap"]["why"])
        self.assertEqual(evidence["alignment-trap-threads"]["state"], 2)
        self.assertTrue(evidence["alignment-trap-threads"]["why"].startswith("17 threads"),
                        evidence["alignment-trap-threads"]["why"])

    def test_children_that_reset_signals_by_system_calls(self):
        self.program("resets_signals", 6)

    def test_instructions(self):
        self.program("instructions")

    def test_code_that_changes_and_libraries_that_come_and_go(self):
        self.program("changing_code")

    def test_alignment_flag_of_the_program(self):
        for name, ways in (("own_flag", ("context", "killed", "read")), ("own_flag_popf", ("popf", "killed", "read"))):
            for way in ways:
                with self.subTest(f"{name} {way}"):
                    bare = self.same(TORTURE / name, way)
                    self.assertEqual(bare.returncode, -7 if way == "killed" else 0)

    def test_seccomp(self):
        for way in ("prctl", "syscall"):
            self.same(SHIM_PROGRAMS / "confine", way)

    def test_python(self):
        self.same(PYTHON, "-c", "import threading, subprocess, faulthandler, signal, struct\n"
                  "faulthandler.enable()\n"
                  "signal.signal(signal.SIGALRM, lambda *a: print('alarm')); signal.setitimer(0, 0.01)\n"
                  "signal.pause()\n"
                  "t = [threading.Thread(target=lambda: struct.unpack_from('<qi', bytes(64), 3)) for _ in range(20)]\n"
                  "[x.start() for x in t]; [x.join() for x in t]\n"
                  "print(subprocess.run(['echo', 'child'], capture_output=True).stdout)")

    def test_node(self):
        self.same(shutil.which("node") or "node", "-e", "let s = 0; for (let i = 0; i < 1e6; i++) s = (s * 31 + i) | 0; console.log(s)",
                  recorded=False)

    def test_debugger_that_comes_and_goes(self):
        if not shutil.which("gdb"):
            self.skipTest("gdb is not installed")
        program = PROGRAMS / "align" / "align_late"
        bare = self.run_bare(program, 2)
        for mode, preload in (("find", None), ("exact", str(STRINGS))):
            with self.subTest(mode), self.start(program, 2, PLUMB_ALIGN=mode, LD_PRELOAD=preload) as process:
                while not self.has_begun("align_late") and process.poll() is None:
                    time.sleep(0.01)
                debugger = subprocess.run(
                    [shutil.which("gdb"), "-nx", "-batch", "-p", str(process.pid), "-ex", "info registers rip", "-ex", "detach"],
                    stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
                output, errors = process.communicate(timeout=60)
                if "ptrace" in debugger.stderr and "not permitted" in debugger.stderr:
                    self.skipTest("nobody may attach here")
                self.assertIn("rip", debugger.stdout, debugger.stderr)
                self.assertEqual((process.returncode, output, errors), (bare.returncode, bare.stdout, bare.stderr))
                for trace in self.traces():
                    trace.path.unlink()

    def test_strace(self):
        # Not armed below a tracer: every hit would be an event of its.
        if not shutil.which("strace"):
            self.skipTest("strace is not installed")
        log = self.scratch / "log"
        done = self.run_shimmed(shutil.which("strace"), "-f", "-o", str(log), str(TORTURE / "instructions"),
                                PLUMB_ALIGN="find")
        bare = self.run_bare(TORTURE / "instructions")
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout))
        self.assertNotIn("SIGBUS {", log.read_text())


if __name__ == "__main__":
    unittest.main()
