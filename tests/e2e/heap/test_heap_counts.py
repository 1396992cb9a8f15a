"""What the heap collector counts, compared with arithmetic."""

import glob
import math
import os
import unittest

from heap_trace import WORD, heap_traces
from plumb_test import PROGRAMS, PlumbTest

OK, LIMITED = 1, 2  # trace::EvidenceState
ALLOCATORS = [library for library in sorted(glob.glob("/usr/lib/*/lib*malloc.so.*"))  # each with its own operator new
              if library.rpartition("/")[2] in ("libjemalloc.so.2", "libtcmalloc.so.4", "libmimalloc.so.2")]
APART = 1024  # heap_known.c: each function that allocates has this many bytes to itself


class HeapCounts(PlumbTest):
    def known(self, scenario, n, mode="full", environment=None, processes=1):
        """Runs heap_known; returns its traces and {function: merged counts of the paths that end in it}."""
        done = self.record(PROGRAMS / "heap_known", scenario, n, check=0,
                           options=("--no-report", "--without", "sample", f"--heap={mode}"),
                           env={**os.environ, **(environment or {})})
        functions = dict(line.split() for line in done.stdout.splitlines())
        found = heap_traces(self.run_directory)
        self.assertEqual(len(found), processes, done.stderr)
        for trace in found:
            self.assertEqual(trace.dropped, 0)
        return found, {name: self.ending_in(found[0], int(address, 16)) for name, address in functions.items()}

    def ending_in(self, trace, start):
        counts = [0] * 6
        for path, site in trace.merged_sites().items():
            addresses = trace.addresses(path)
            if addresses and start < addresses[0] <= start + APART:
                counts = [a + b & WORD for a, b in zip(counts, site)]
        return counts

    def test_pairs(self):
        (trace,), sites = self.known("pairs", 10000)
        self.assertEqual(sites["pairs"][:5], [10000, 1000000, 10000, 1000000, 10000])

    def test_totals_and_sites_agree(self):
        (trace,), _ = self.known("grow", 500)
        self.assertEqual(trace.site_sum("allocations"), trace.total("allocations") + trace.total("reallocations"))
        self.assertEqual(trace.site_sum("allocated_bytes"), trace.total("allocated_bytes"))
        self.assertEqual(sum(sum(totals["size_histogram"]) for totals in trace.totals),
                         trace.total("allocations") + trace.total("reallocations"))

    def test_leak_of_known_size(self):
        _, sites = self.known("leak", 1000)
        allocations, allocated, frees, freed, _, peak = sites["leak"]
        self.assertEqual((allocations, allocated, frees, freed), (1000, 1000000, 0, 0))
        self.assertEqual(peak, 1000000)

    def test_peak_belongs_to_what_was_alive(self):
        _, sites = self.known("peak", 100)
        mountain, plain = sites["mountain"], sites["plain"]
        self.assertEqual(mountain[:4], [100, 5000000, 100, 5000000])
        self.assertAlmostEqual(mountain[5] / 5000000, 1, delta=0.012)
        self.assertEqual(plain[5], 200000)  # what came later was not there yet

    def test_realloc_chain(self):
        n = 300
        (trace,), sites = self.known("grow", n)
        bytes_of_chain = 16 * n * (n + 1) // 2
        self.assertEqual(sites["grow"][:4], [n, bytes_of_chain, n, bytes_of_chain])
        self.assertEqual(trace.total("reallocations"), n - 1)
        self.assertGreaterEqual(trace.total("failed"), 1)

    def test_aligned_family(self):
        n = 200
        _, sites = self.known("aligned", n)
        each = 100 + 128 + 200 + 300 + 7 * 30 + 5 * 40
        self.assertEqual(sites["aligned"][:5], [6 * n, each * n, 6 * n, each * n, 6 * n])

    def test_zero_null_and_refused(self):
        (trace,), sites = self.known("odd", 1)
        self.assertEqual(sites["odd"][:4], [1, 0, 1, 0])
        self.assertEqual(trace.total("failed"), 2)
        self.assertGreaterEqual(trace.total("zero_sized"), 1)

    def test_freed_by_another_thread(self):
        n = 3000
        (trace,), sites = self.known("handover", n)
        size = sum(64 + i % 7 * 16 for i in range(n))
        self.assertEqual(sites["produce"][:5], [n, size, n, size, 0])
        self.assertGreaterEqual(len(trace.totals), 2)

    def test_threads_at_once(self):
        n = 20000
        _, sites = self.known("churn", n)
        size = 8 * sum(i % 400 + 1 for i in range(n))
        self.assertEqual(sites["churn"][:4], [8 * n, size, 8 * n, size])

    @unittest.skipUnless(ALLOCATORS, "neither jemalloc nor tcmalloc nor mimalloc is installed")
    def test_other_allocators(self):
        for library in ALLOCATORS:
            with self.subTest(library):
                self.setUp()
                _, sites = self.known("churn", 5000, environment={"LD_PRELOAD": library})
                size = 8 * sum(i % 400 + 1 for i in range(5000))
                self.assertEqual(sites["churn"][:4], [40000, size, 40000, size])

    @unittest.skipUnless(ALLOCATORS, "neither jemalloc nor tcmalloc nor mimalloc is installed")
    def test_a_c_program_misses_nothing_of_another_allocator(self):
        for library in ALLOCATORS:
            with self.subTest(library):
                self.setUp()
                (trace,), _ = self.known("churn", 10, environment={"LD_PRELOAD": library})
                state, why, _ = trace.evidence()["heap"]
                self.assertEqual(state, OK, why)

    def evidence_of_cpp(self, mode, environment):
        """Runs a C++ program whose list has 1000 nodes; returns its trace and what is said of the heap."""
        self.record(PROGRAMS / "heap_mix", 20, 1, check=0,
                    options=("--no-report", "--without", "sample", f"--heap={mode}"), env={**os.environ, **environment})
        trace, = heap_traces(self.run_directory)
        return trace, *trace.evidence()["heap"][:2]

    def test_operator_new_of_the_c_library_is_counted(self):
        for mode in ("full", "sample"):
            with self.subTest(mode):
                self.setUp()
                trace, state, why = self.evidence_of_cpp(mode, {})
                self.assertEqual(state, OK, why)
                self.assertGreaterEqual(trace.total("allocations"), 20000)
                self.assertLess(trace.total("allocations"), 20200)  # once each, though new calls malloc

    @unittest.skipUnless(ALLOCATORS, "neither jemalloc nor tcmalloc nor mimalloc is installed")
    def test_operator_new_of_another_allocator_is_said_to_be_missing(self):
        for library in ALLOCATORS:
            with self.subTest(library):
                self.setUp()
                trace, state, why = self.evidence_of_cpp("full", {"LD_PRELOAD": library})
                self.assertEqual(state, LIMITED, why)
                self.assertIn(library, why)
                self.assertIn("C++ allocations", why)
                self.assertLess(trace.total("allocations"), 20000)  # or the message is wrong

    def test_large_blocks(self):
        (trace,), _ = self.known("large", 5)
        maps = trace.of("LargeMap")
        kinds = sorted((entry["kind"], entry["bytes"] >> 20) for entry in maps)
        self.assertEqual(kinds, [(1, 5)] * 5 + [(2, 7)] * 5 + [(4, 3)] * 5)
        for entry in maps:
            self.assertGreaterEqual(entry["until_ns"], entry["time_ns"], entry)

    def test_forked_child_has_its_own_heap(self):
        found, _ = self.known("fork", 1000, processes=2)
        parent, child = sorted(found, key=lambda trace: trace.total("allocated_bytes"))
        self.assertEqual(child.total("frees") >= 1000, True)
        live = [site[1] - site[3] for site in child.merged_sites().values()]
        self.assertEqual(max(live), 2000000)
        self.assertTrue(all(amount >= 0 for amount in live))
        self.assertEqual(max(site[1] - site[3] for site in parent.merged_sites().values()), 1000000)

    def test_samples_are_unbiased_and_totals_exact(self):
        n = 200000
        mean = 16384
        (trace,), sites = self.known("mixed", n, mode="sample", environment={"PLUMB_HEAP_SAMPLE_BYTES": str(mean)})
        sizes = [(i % 64 + 1) * 48 for i in range(n)]
        self.assertGreaterEqual(trace.total("allocated_bytes"), sum(sizes))
        self.assertLess(trace.total("allocated_bytes") - sum(sizes), 1 << 20)
        allocations, allocated, frees, freed, _, _ = sites["mixed_sizes"]

        def sigma(amounts_and_sizes):
            return math.sqrt(sum(a * a * math.exp(-s / mean) / -math.expm1(-s / mean) for a, s in amounts_and_sizes))
        self.assertAlmostEqual(allocated, sum(sizes), delta=4 * sigma((s, s) for s in sizes))
        self.assertAlmostEqual(allocations, n, delta=4 * sigma((1, s) for s in sizes) + 64)
        released = [s for i, s in enumerate(sizes) if i % 4]
        self.assertAlmostEqual(freed, sum(released), delta=4 * sigma((s, s) for s in released))
        self.assertLess(sum(site["samples"] for site in trace.sites), n / 5)

    def test_off_records_nothing(self):
        (trace,), _ = self.known("pairs", 100, mode="off")
        self.assertEqual((trace.totals, trace.sites), ([], []))


if __name__ == "__main__":
    unittest.main()
