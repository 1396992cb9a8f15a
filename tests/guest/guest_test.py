"""What the guests' tests share: one boot a class, whose job's results all its tests look at."""

import os
import pathlib
import sys
import unittest
import xml.etree.ElementTree as ElementTree

from guest import Guest
from missing import Missing
from plumb_test import PLUMB, PROGRAMS, PlumbTest
from programs import Host, Sysroot
from trace_reader import Trace

FOLDER = pathlib.Path(os.environ["PLUMB_GUEST_FOLDER"])  # keeps the kernel, and what the last boot of a class left
SHIM = pathlib.Path(os.environ["PLUMB_SHIM"])
EXAMPLES = pathlib.Path(os.environ["PLUMB_EXAMPLES"])
TOOLS = (PLUMB, SHIM, SHIM.parent / "strings" / "libplumb-strings.so")
OPENED = ("libZydis.so.4.0", "libpapi.so.7.0")  # libraries that the tools open while they run
SYSROOT = os.environ.get("PLUMB_GUEST_SYSROOT")  # of a build for another architecture
SKIPPED = 77  # exit status, as Meson understands it


class GuestTest(PlumbTest):
    """A subclass sets `machine`, `job` (the script; $PLUMB is the tool) and `files` (programs it starts)."""

    machine = None
    job = ""
    files = ()
    spare_disk_mib = 0

    @classmethod
    def setUpClass(cls):
        try:
            source = Sysroot(SYSROOT, "aarch64-linux-gnu") if SYSROOT else Host()
            cls.results = Guest(cls.machine, FOLDER, source).run(
                f"export PLUMB={PLUMB}\n{cls.job}", FOLDER / cls.__name__, TOOLS, OPENED, cls.files, cls.spare_disk_mib)
        except Missing as reason:
            raise unittest.SkipTest(str(reason)) from None
        print(f"{cls.__name__}: {cls.results.seconds:.0f} s in the guest", file=sys.stderr)
        if cls.results.status:
            raise AssertionError(f"the job ended with {cls.results.status}\n{cls.results.explain()}")

    def node_trace(self, run):
        """What the recorder wrote about the guest in the run directory of this name."""
        return Trace(next((self.results.folder / run).glob("node-*.plumb")))

    def topology(self, run):
        """The machine as it was recorded: hwloc's XML."""
        trace = self.node_trace(run)
        record = trace.of("Topology")[0]
        parts = range(record["xml_id"], record["xml_id"] + record["xml_parts"])
        return ElementTree.fromstring("".join(trace.strings[part] for part in parts).encode())


def program(name):
    return PROGRAMS / name


def example(path):
    return EXAMPLES / path


def main():
    """unittest's main; the exit status is SKIPPED where nothing could be tested."""
    result = unittest.main(module="__main__", exit=False).result
    for test, reason in result.skipped:
        print(f"skipped {test}: {reason}", file=sys.stderr)
    # A class that is skipped was not run; a part of a test (which names its test) does not skip the test.
    skipped_tests = sum(isinstance(test, unittest.TestCase) and not hasattr(test, "test_case")
                        for test, _ in result.skipped)
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.skipped and result.testsRun == skipped_tests else 0)
