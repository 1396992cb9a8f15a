"""Addresses from time samples, held against programs whose arrays are known."""

import platform
import unittest

from plumb_test import PROGRAMS, PlumbTest
from trace_reader import FORMAT, Trace

PACKED, MISSING = FORMAT.value("AlignFlags", "kAlignPacked"), FORMAT.value("EvidenceState", "missing")


class AddressSampling(PlumbTest):
    def sampled(self, kernel, *arguments, milliseconds=1000):
        """(sites in the kernel's loop, {array: (start, end)}) of one run."""
        done = self.record(PROGRAMS / "access_kernels", kernel, milliseconds, *arguments,
                           options=["--rate", "997", "--budget", "20", "-q", "--force", "--without", "heap"], check=0)
        arrays, code = {}, None
        for line in done.stdout.splitlines():
            kind, *words = line.split()
            if kind == "code":
                code = [int(word, 16) for word in words]
            elif kind == "array":
                arrays[words[0]] = (int(words[1], 16), int(words[1], 16) + int(words[2]))
        (path,) = self.run_directory.glob("node-*.plumb")
        trace = Trace(path)
        for source in "address-sampling", "perf-sampling":
            state, why, _ = trace.evidence().get(source, (None, None, None))
            if state == MISSING:
                self.skipTest(why)
        sites, crossings = [], 0
        for site in trace.of("AccessSite"):
            self.assertGreater(site["first_ns"], 0)
            crossings += site["line_crossings"]
            if code[0] <= site["address"] < code[1]:
                sites.append(site)
        # What unaligned accesses cost is measured by the runs that have them, and by no other.
        self.penalties = trace.of("AccessPenalty")
        self.assertEqual(len(self.penalties), 1 if crossings else 0)
        return sites, arrays

    def check_arrays(self, kernel, names, at_least):
        sites, arrays = self.sampled(kernel)
        total = sum(site["samples"] for site in sites)
        self.assertGreater(total, 200, sites)  # of about 1,000 that were taken
        inside = sum(site["samples"] for site in sites
                     if any(arrays[name][0] <= site["last_address"] < arrays[name][1] for name in names))
        self.assertGreaterEqual(inside / total, at_least, sites)
        self.assertEqual([site for site in sites if site["unaligned"] or site["line_crossings"]], [])  # all their accesses are aligned

    def test_triad(self):
        self.check_arrays("triad", "abc", 0.9)

    def test_pointer_chase(self):
        self.check_arrays("chase", ["nodes"], 0.9)

    def test_column_walk(self):
        self.check_arrays("column_walk", "a", 0.9)

    def test_stencil(self):
        self.check_arrays("stencil", "ab", 0.8)

    def test_histogram(self):
        self.check_arrays("histogram", ["a", "values"], 0.9)

    def shares(self, kernel, offset):
        """Of the kernel's vector accesses, the samples that were unaligned, across lines, across pages, as shares."""
        sites, _ = self.sampled(kernel, offset)
        vectors = [site for site in sites if site["flags"] & PACKED]
        self.assertTrue(vectors, sites)
        self.assertEqual({site["width"] for site in vectors}, {16})
        total = sum(site["samples"] for site in vectors)
        self.assertGreater(total, 200)
        return [sum(site[field] for site in vectors) / total
                for field in ("unaligned", "line_crossings", "page_crossings")]

    @unittest.skipUnless(platform.machine() == "x86_64", "x86-64 only")
    def test_vector_accesses_that_cross_lines(self):
        for kernel in "read_only", "copy":
            self.assertEqual(self.shares(kernel, 0), [0, 0, 0])
        # One of four crosses a line, one of 256 a page. It is time that is sampled: what costs more is seen more.
        unaligned, lines, pages = self.shares("read_only", 8)
        self.assertEqual(unaligned, 1)
        self.assertGreater(lines, 0.12)
        self.assertLess(lines, 0.6)
        self.assertLess(pages, 0.3)
        unaligned, lines, pages = self.shares("made_code", 8)
        self.assertEqual(unaligned, 1)
        self.assertGreater(lines, 0.12)
        self.assertLess(lines, 0.6)
        unaligned, lines, pages = self.shares("copy", 8) # a store across a page takes 20 times as long as others
        self.assertEqual(unaligned, 1)
        self.assertGreater(lines, 0.12)
        self.assertLess(pages, lines)
        (penalty,) = self.penalties
        for figure in "aligned_load", "line_load", "page_load", "aligned_store", "line_store", "page_store", "locked":
            self.assertGreater(penalty[figure + "_ps"], 0, figure)
        self.assertGreater(penalty["locked_ps"], penalty["aligned_load_ps"])
        self.assertEqual(penalty["split_lock_ps"], 0)  # nobody made one: none is made to measure it


if __name__ == "__main__":
    unittest.main(verbosity=2)
