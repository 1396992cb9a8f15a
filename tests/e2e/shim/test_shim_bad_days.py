"""Bad days: whatever happens to the shim's file or the process around it, the program runs as it would have."""

import os
import shutil
import subprocess
import unittest

from heap_trace import heap_traces
from plumb_test import PlumbTest
from shim_test import SHIM_PROGRAMS, ShimTest


class BadDays(ShimTest):
    def test_program_closes_everything(self):
        done = self.run_both("close_all")
        self.assertIn("lowest: 0", done.stdout)
        trace = self.trace()
        self.assertEqual(len(trace.of("ThreadStart")), 101)
        self.assertEqual(len(trace.of("ThreadName")), 2_000)
        self.assertTrue(trace.closed)
        self.assertEqual(trace.dropped, 0)

    def test_limit_reached(self):
        self.run_both("many_threads", 400, PLUMB_FILE_LIMIT="65536") # 1 KiB each, and all at once
        trace = self.trace()
        self.assertTrue(trace.full)
        self.assertEqual(trace.size, 65536)
        self.assertGreater(trace.dropped, 0)
        self.assertTrue(trace.closed)
        self.assertEqual(trace.end, ("exit", 0))

    def test_a_storm_of_one_kind_leaves_room_for_the_others(self):
        self.run_both("name_often", 30_000)
        trace = self.trace()
        self.assertFalse(trace.full)
        self.assertEqual(trace.dropped, 0)
        self.assertLess(trace.used, (8 << 20) / 8)
        self.assertIn("thread-names", [entry["source"] for entry in trace.of("Evidence")])

    def test_allocator_of_the_program_sets_itself_up(self):
        self.run_both("own_allocator")
        self.assertEqual(len(self.trace().of("ThreadStart")), 2)

    def test_program_confines_itself(self):
        for way in ("prctl", "syscall"):
            for hz in ("", "250"):
                with self.subTest(way=way, hz=hz):
                    done = self.run_both("confine", way, PLUMB_TIMER_HZ=hz)
                    self.assertEqual(done.returncode, 17)
                    trace = self.trace()
                    self.assertEqual([name["name"] for name in trace.of("ThreadName")], ["free"])
                    self.assertIn("seccomp", "".join(entry["why"] for entry in trace.of("Evidence")))
                    trace.path.unlink()

    def test_directory_read_only_or_gone(self):
        self.run_both("thread_ends", PLUMB_RUN="/proc/nowhere")
        self.run_both("thread_ends", PLUMB_RUN=str(self.scratch / "missing"))
        self.assertEqual(self.traces(), [])
        if os.geteuid() != 0: # root writes everywhere
            self.run_directory.chmod(0o500)
            self.run_both("thread_ends")
            self.run_directory.chmod(0o700)
            self.assertEqual(self.traces(), [])

    def test_directory_removed_while_it_runs(self):
        process = self.start("/bin/sh", "-c", f"rm -r '{self.run_directory}'; exec env sh -c 'exit 5'")
        process.communicate()
        self.assertEqual(process.returncode, 5)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_root_changed(self):
        root = self.scratch / "root"
        root.mkdir()
        self.run_both("change_root", root)
        trace = self.trace()
        self.assertTrue(trace.full)
        self.assertGreater(trace.dropped, 0)
        self.assertEqual(trace.end, ("exit", 0))
        self.assertEqual(list(root.iterdir()), [])

    @unittest.skipUnless(os.geteuid() == 0, "needs root to mount a small disk")
    def test_full_disk(self):
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=192k", "none", str(self.run_directory)],
                                 capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("cannot mount: " + mounted.stderr.decode())
        self.addCleanup(subprocess.run, ["umount", str(self.run_directory)])
        self.run_both("name_often", 20_000)
        trace = self.trace()
        self.assertTrue(trace.full)
        self.assertLess(trace.size, 192 * 1024)
        self.assertGreater(trace.dropped, 0)
        # Nothing is left for a second file: that process is not recorded at all.
        (self.run_directory / "rest").write_bytes(b"x" * 8192)
        with open(self.run_directory / "rest", "ab", buffering=0) as rest:
            try:
                while rest.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        self.run_both("thread_ends")
        self.assertEqual(len(self.traces()), 1)

    @unittest.skipUnless(shutil.which("prlimit"), "needs prlimit")
    def test_limits_of_the_process(self):
        # No address space for the file, no file at all, none that grows: the last two would raise SIGXFSZ.
        for limit, recorded in (("--as=8000000", False), ("--fsize=0", False), ("--fsize=100000", True)):
            with self.subTest(limit):
                self.run_both(shutil.which("prlimit"), limit, self.command(["name_often"])[0], 8000)
                traces = self.traces("name_often")
                self.assertEqual(bool(traces), recorded)
                for trace in traces:
                    self.assertTrue(trace.full)

    def test_no_address_space_left(self):
        done = self.run_both("memory_limit", PLUMB_COLLECTORS="heap", PLUMB_HEAP="full")
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = self.trace()
        self.assertEqual(trace.end, ("exit", 0))
        heap, = heap_traces(self.run_directory)
        self.assertGreaterEqual(heap.site_sum("allocations"), 4096)

    def test_no_descriptor_left(self):
        self.run_both("exhaust_descriptors")
        trace = self.trace()
        self.assertGreater(trace.dropped, 0)
        self.assertFalse(trace.full, "the shortage was a temporary one")
        self.assertEqual([name["name"] for name in trace.of("ThreadName")].count("free again"), 3000)
        self.assertEqual(trace.end, ("exit", 0))


class Sanitizers(PlumbTest):
    @unittest.skipUnless((SHIM_PROGRAMS / "sanitized").exists(), "the compiler has no AddressSanitizer")
    def test_address_sanitizer(self):
        done = self.record(SHIM_PROGRAMS / "sanitized", 10, options=["--no-report"], check=0)
        self.assertEqual(done.stdout, "named 10 times\n")


if __name__ == "__main__":
    unittest.main()
