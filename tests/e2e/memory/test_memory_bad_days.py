"""Bad days for what is told of memory: the program runs as it would, the record stays small, and what is missing is said."""

import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest
from trace_reader import Trace

STORM, REFUSE = PROGRAMS / "memory" / "block_storm", PROGRAMS / "refuse"
BLOCKS = 100_000
MOST_BYTES = 8 << 20  # of a process's file


class MemoryBadDays(PlumbTest):
    def test_a_hundred_thousand_large_blocks(self):
        bare = subprocess.run([STORM, str(BLOCKS)], capture_output=True, text=True, check=True)
        done = self.record(STORM, BLOCKS, options=("--no-report", "-q"), check=0)
        self.assertEqual(done.stdout, bare.stdout)
        [path] = [path for path in self.run_directory.glob("process-*.plumb")]
        trace = Trace(path)
        self.assertLess(trace.used, MOST_BYTES)
        self.assertFalse(trace.full)
        # The places of those that were freed serve again: nothing had to be left out.
        details = [entry for entry in self.report()["evidence"] if entry["source"] == "heap-details"]
        self.assertEqual(details, [])

    def test_page_nodes_forbidden(self):
        """On a machine of one node nobody asks for them; the guests' tests do it on two."""
        done = subprocess.run([REFUSE, "pages", PLUMB, "run", "-o", self.run_directory, "-q", "--", PROGRAMS / "burn", "0.5"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.report()
        doctor = subprocess.run([REFUSE, "pages", PLUMB, "doctor"], capture_output=True, text=True, timeout=60)
        self.assertIn("move_pages", doctor.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
