"""plumb run --align and its companions: what reaches the shim, and which combinations are refused."""

import os
import pathlib
import shutil
import subprocess
import unittest

from plumb_test import PROGRAMS, PlumbTest
from trace_reader import Trace

BURN = PROGRAMS / "burn"
ALLOCATES = PROGRAMS / "align" / "align_allocates"


class AlignOptions(PlumbTest):
    def variables(self, *options):
        """The variables that a program sees under plumb run."""
        done = self.record("env", "-0", options=("-q", "--no-report", "--force", *options), check=0)
        return dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)

    def refused(self, words, *options, program=BURN):
        done = self.record(program, "0", options=options)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertFalse(self.run_directory.exists(), "a run that did not begin left its directory")

    def test_modes(self):
        self.assertNotIn("PLUMB_ALIGN", self.variables("--align=off"))
        self.assertNotIn("PLUMB_ALIGN", self.variables("--without=align"))
        self.assertEqual(self.variables("--with=align")["PLUMB_ALIGN"], "find")
        found = self.variables("--align=find")
        self.assertEqual(found["PLUMB_ALIGN"], "find")
        self.assertIn("align", found["PLUMB_COLLECTORS"].split(","))
        self.assertEqual(found["PLUMB_HEAP"], "sample")
        self.assertNotIn("libplumb-strings", found["LD_PRELOAD"])

    def test_exact_records_every_allocation_unless_told_otherwise(self):
        self.assertEqual(self.variables("--align=exact")["PLUMB_HEAP"], "full")
        self.assertEqual(self.variables("--align=exact", "--heap=sample")["PLUMB_HEAP"], "sample")

    def test_exact_preloads_the_string_wrappers(self):
        if not list(PROGRAMS.parents[1].glob("preload/**/libplumb-strings.so")):
            self.skipTest("libplumb-strings.so is not built here")
        preloads = self.variables("--align=exact")["LD_PRELOAD"].split(":")
        self.assertTrue(preloads[0].endswith("/libplumb.so"), preloads)
        self.assertTrue(preloads[1].endswith("/libplumb-strings.so"), preloads)

    def exact_trace(self, *command):
        self.record(*command, options=("-q", "--no-report", "--align=exact"), check=0)
        (trace,) = [Trace(path) for path in self.run_directory.glob("process-*.plumb")]
        evidence = {entry["source"]: entry for entry in trace.of("Evidence")}
        if evidence["alignment-trap"]["state"] == 3:
            self.skipTest(evidence["alignment-trap"]["why"])
        shutil.rmtree(self.run_directory)
        return trace

    def test_exact_does_not_trap_in_the_tools_own_code(self):
        """Recording an allocation is not to cost a trap or two of the tool's own unaligned accesses."""
        n = 20_000
        (totals,) = self.exact_trace(ALLOCATES, n).of("AlignTotals")
        self.assertLess(totals["excluded_hits"], n // 20)
        # The C library's own accesses do trap in these.
        trace = self.exact_trace(ALLOCATES, 1000, "calloc", "realloc")
        (tool,) = {(module["start"], module["end"]) for module in trace.of("ModuleLoad")
                   if os.path.basename(module["path"]).startswith("libplumb.so")}
        caught = {code["address"] for code in trace.of("AlignCode")}
        self.assertFalse([hex(address - tool[0]) for address in caught if tool[0] <= address < tool[1]])

    def test_globs(self):
        seen = self.variables("--align=find", "--align-modules=liba*,libb*", "--align-skip", "libc.so*")
        self.assertEqual(seen["PLUMB_ALIGN_MODULES"], "liba*:libb*")
        self.assertEqual(seen["PLUMB_ALIGN_SKIP"], "libc.so*")

    def test_contradictions(self):
        self.refused("contradict each other", "--align=exact", "--without=align")
        self.refused("--fatal needs --align=exact", "--align=find", "--fatal")
        self.refused("name no such source file", "--fatal", "--only-file=no-such-file.c")

    def test_only_file_names_the_code_of_the_file(self):
        """The ranges hold the function's own addresses, by nm, and nothing of the C library's start code."""
        self.record(BURN, "0", options=("-q", "--fatal", "--only-file=burn.c"), check=0)
        [ranges] = self.run_directory.glob("align-ranges-*")
        lines = [line.split("\t") for line in ranges.read_text().splitlines()]
        self.assertEqual({path for path, _ in lines}, {os.path.realpath(BURN)})
        spans = [tuple(int(address, 16) for address in span.split("-")) for _, span in lines]
        symbols = {name: int(address, 16) for address, kind, name in
                   (row.split() for row in subprocess.run(["nm", "--defined-only", str(BURN)], capture_output=True,
                                                          text=True, check=True).stdout.splitlines())
                   if kind in "tT"}

        def covered(address):
            return any(first <= address <= last for first, last in spans)

        self.assertTrue(covered(symbols["main"]))
        self.assertFalse(covered(symbols["_start"]))

    def test_only_file_looks_behind_launchers_and_scripts(self):
        script = pathlib.Path(self.scratch, "start.sh")
        script.write_text('#!/bin/sh\nexec "$@"\n')
        script.chmod(0o755)
        self.record(script, BURN, "0", options=("-q", "--fatal", "--only-file=burn.c"), check=0)
        [ranges] = self.run_directory.glob("align-ranges-*")
        self.assertIn(os.path.realpath(BURN), ranges.read_text())


if __name__ == "__main__":
    unittest.main()
