"""Hot sites in exact mode: counted without a signal, none lost, and the program does not notice."""

import unittest

from plumb_test import PROGRAMS
from shim_test import ShimTest
from test_align_trap import functions_of

HOT = PROGRAMS / "align" / "align_hot"


class RewrittenSites(ShimTest):
    def rewriting(self, trace):
        """The sentence on what was rewritten; skips the test where that cannot be."""
        evidence = {entry["source"]: entry for entry in trace.of("Evidence")}
        if evidence["alignment-trap"]["state"] == 3:
            self.skipTest(evidence["alignment-trap"]["why"])
        if "alignment-rewriting" not in evidence:
            self.skipTest("this kernel lets no code be changed while it runs")
        return evidence["alignment-rewriting"]["why"]

    def test_every_hit_of_every_thread_is_counted(self):
        threads, n = 4, 50_000
        self.run_both(HOT, threads, n, PLUMB_ALIGN="exact")
        trace = self.trace()
        why = self.rewriting(trace)
        main = next(module for module in trace.of("ModuleLoad") if module["flags"] & 1)
        hits = {}
        for site in trace.of("AlignSite"):
            address = site["address"] - main["start"] + main["file_offset"]
            for start, end, name in functions_of(HOT):
                if start <= address < end:
                    counts = [count for count in trace.of("AlignCount") if count["site"] == site["id"]]
                    hits.setdefault(name, []).append(counts)
        (counts,) = hits["hot_load"]
        self.assertEqual([count["hits"] for count in counts], [n] * threads)
        self.assertEqual([count["residues"][1] for count in counts], [n] * threads)
        for counts in hits["hot_add"]:  # one instruction or two
            self.assertEqual([count["hits"] for count in counts], [n] * threads)
            self.assertEqual([count["residues"][62] for count in counts], [n] * threads)
        totals = trace.of("AlignTotals")
        all_hits = sum(count["hits"] for count in trace.of("AlignCount"))
        self.assertEqual(sum(entry["hits"] for entry in totals), all_hits)
        # How many sites can be rewritten depends on which addresses are free; here one of the loops can.
        self.assertGreater(sum(entry["rewritten"] for entry in totals), n, why)
        self.assertTrue(trace.of("AlignCode"))

    def test_excluded_libraries_cost_nothing_once_they_are_hot(self):
        n = 200_000
        program, library = PROGRAMS / "align" / "align_excluded", PROGRAMS / "align" / "libexcluded_plugin.so"
        self.run_both(program, library, n, PLUMB_ALIGN="exact", PLUMB_ALIGN_SKIP=library.name)
        trace = self.trace()
        why = self.rewriting(trace)
        (totals,) = trace.of("AlignTotals")
        self.assertEqual(totals["hits"], 10) # the program's own
        self.assertGreater(totals["excluded_hits"], 2 * 100) # what trapped before is told
        self.assertLess(totals["excluded_hits"], n // 20)
        self.assertLess(totals["stepped"] + totals["slots"], n // 20)
        self.assertIn("2 in excluded libraries", why)

    def test_programs_at_a_fixed_address(self):
        if not (PROGRAMS / "align" / "align_fixed").exists():
            self.skipTest("the linker makes no programs for a fixed address")
        n = 20_000
        self.run_both(PROGRAMS / "align" / "align_fixed", n, PLUMB_ALIGN="exact")
        trace = self.trace()
        why = self.rewriting(trace)
        (totals,) = trace.of("AlignTotals")
        self.assertEqual(totals["hits"], n)
        self.assertGreater(totals["rewritten"], n - 1000, why)


if __name__ == "__main__":
    unittest.main()
