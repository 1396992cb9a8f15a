"""The alignment trap: which instructions are caught, how often, and that the program does not notice."""

import re
import subprocess
import unittest

from plumb_test import PROGRAMS
from shim_test import ShimTest

ALIGN_PROGRAMS = PROGRAMS / "align"
LOAD, STORE, LOCKED, STRING, STACK = 1, 2, 4, 8, 16


def functions_of(program):
    """[(first address, address behind, name)] of the program's own functions, in its file's numbering."""
    lines = subprocess.run(["nm", "-S", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    return [(int(start, 16), int(start, 16) + int(size, 16), name)
            for start, size, name in re.findall(r"^(\w+) (\w+) [tT] (\S+)$", lines, re.M)]


class AlignmentTrap(ShimTest):
    def run_align(self, mode, program, *arguments, **variables):
        result = self.run_both(ALIGN_PROGRAMS / program, *arguments, PLUMB_ALIGN=mode, **variables)
        evidence = [entry for trace in self.traces() for entry in trace.of("Evidence")
                    if entry["source"] == "alignment-trap"]
        if any(entry["state"] == 3 for entry in evidence):
            self.skipTest(evidence[0]["why"])
        return result

    def hits(self, trace, program):
        """{function: (hits, site)} of the program's own code."""
        main = next(module for module in trace.of("ModuleLoad") if module["flags"] & 1)
        functions = functions_of(ALIGN_PROGRAMS / program)
        found = {}
        for site in trace.of("AlignSite"):
            if not main["start"] <= site["address"] < main["end"]:
                continue
            address = site["address"] - main["start"] + main["file_offset"]
            name = next((name for start, end, name in functions if start <= address < end), hex(address))
            counts = [count for count in trace.of("AlignCount") if count["site"] == site["id"]]
            found.setdefault(name, []).append((sum(count["hits"] for count in counts), site, counts))
        return found

    def test_counts_of_every_kind(self):
        n = 100
        self.run_align("exact", "align_known", n)
        trace = self.trace()
        found = self.hits(trace, "align_known")
        expected = {"load_4": (n, LOAD, 4), "store_8": (2 * n, STORE, 8), "add_locked": (n, LOAD | STORE | LOCKED, 4),
                    "exchange": (n, LOAD | STORE | LOCKED, 8), "load_double": (n, LOAD, 8),
                    "static_member": (n, STORE, 4), "thread_member": (n, LOAD, 4),
                    "copy_words": (n, LOAD | STORE | STRING, 8), "copy_backwards": (n, LOAD | STORE | STRING, 8),
                    "keeps_flags": (n, LOAD, 4), "makes_flags": (n, LOAD | STORE, 4)}
        for name, (hits, flags, width) in expected.items():
            self.assertEqual([(entry[0], entry[1]["flags"], entry[1]["width"]) for entry in found[name]],
                             [(hits, flags, width)], name)
        stack = sorted((hits, site["flags"]) for hits, site, _ in found["through_stack"])
        self.assertEqual(stack, [(n, LOAD | STACK), (n, STORE | STACK)])
        self.assertNotIn("aligned_4", found)
        self.assertNotIn("within_bytes", found)
        self.assertEqual(sum(totals["lost_hits"] for totals in trace.of("AlignTotals")), 0)
        self.assertEqual(sum(totals["hits"] for totals in trace.of("AlignTotals")),
                         sum(count["hits"] for count in trace.of("AlignCount")))

    def test_addresses(self):
        n = 128
        self.run_align("exact", "align_known", n)
        trace = self.trace()
        found = self.hits(trace, "align_known")
        (_, site, (count,)), = found["store_8"]
        self.assertEqual((count["page_crossings"], count["residues"][60]), (2 * n, 2 * n))
        self.assertEqual(count["lowest_address"], count["highest_address"])
        self.assertEqual(count["lowest_address"] % 4096, 4092)
        (_, site, (count,)), = found["load_4"]
        self.assertEqual(count["residues"], [n // 16 if i % 4 == 1 else 0 for i in range(64)])
        self.assertEqual(count["highest_address"] - count["lowest_address"], 127 * 4)
        kept = [entry for entry in trace.of("AlignAddress") if entry["site"] == site["id"]]
        first = count["lowest_address"]
        self.assertEqual([entry["address"] for entry in kept], [first + 4 * (hit - 1) for hit in (1, 2, 3, 4, 8, 16, 32, 64, 128)])
        for entry in kept:
            self.assertEqual(entry["base_value"], entry["address"])
            self.assertGreater(entry["frame_address"], entry["stack_pointer"])

    def test_sixty_four_threads_lose_nothing(self):
        self.run_align("exact", "align_threads", 64, 200)
        (hits, _, counts), = self.hits(self.trace(), "align_threads")["increment"]
        self.assertEqual(hits, 64 * 200)
        self.assertEqual({count["hits"] for count in counts}, {200})
        self.assertEqual(len({count["tid"] for count in counts}), 64)

    def test_both_sides_of_a_fork(self):
        self.run_align("exact", "align_forks", 50)
        traces = self.traces()
        self.assertEqual(sorted(self.hits(trace, "align_forks")["load_4"][0][0] for trace in traces), [100, 100])
        self.assertEqual(len(traces), 2)

    def test_other_code_at_the_same_address(self):
        self.run_align("exact", "align_rewritten_code", 20)
        trace = self.trace()
        sites = sorted(trace.of("AlignSite"), key=lambda site: site["width"])[-2:]
        hits = {count["site"]: count["hits"] for count in trace.of("AlignCount")}
        self.assertEqual([(site["width"], hits[site["id"]]) for site in sites], [(4, 20), (8, 40)])
        self.assertEqual(sites[0]["address"], sites[1]["address"])

    def test_find_sees_the_sites_and_leaves_the_program_alone(self):
        n = 3_000_000 # some ticks long: nobody but plumb has its first window earlier
        self.run_align("find", "align_known", n)
        trace = self.trace()
        found = self.hits(trace, "align_known")
        self.assertIn("load_4", found)
        totals, = trace.of("AlignTotals")
        self.assertGreater(totals["windows"], 1)
        self.assertLess(totals["hits"], n)
        for entries in found.values():
            for hits, _, counts in entries:
                self.assertLessEqual(hits, 3 * n)
                self.assertEqual({count["exact"] for count in counts}, {0})

    def test_nothing_is_armed_unless_asked_for(self):
        self.run_both(ALIGN_PROGRAMS / "align_known", 10)
        self.assertEqual([entry for entry in self.trace().records if entry["type"].startswith("Align")], [])

    def test_libraries_by_glob(self):
        self.run_align("exact", "align_known", 10, PLUMB_ALIGN_SKIP="*align_known")
        self.assertIn("load_4", self.hits(self.trace(), "align_known"))  # the program itself always counts

    def test_fatal_ends_at_the_instruction(self):
        result = self.run_shimmed(ALIGN_PROGRAMS / "align_known", 10, PLUMB_ALIGN="exact", PLUMB_ALIGN_FATAL="1")
        self.assertEqual((result.returncode, result.stdout), (-7, ""))
        self.assertRegex(result.stderr, r"^plumb: unaligned access at 0x[0-9a-f]{16}: ")
        found = self.hits(self.trace(), "align_known")
        self.assertEqual({name: entries[0][0] for name, entries in found.items()}, {"load_4": 1})

    def test_fatal_in_chosen_code_only(self):
        path = ALIGN_PROGRAMS / "align_known"
        start, end, _ = next(entry for entry in functions_of(path) if entry[2] == "add_locked")
        ranges = self.scratch / "ranges"
        ranges.write_text(f"/nowhere\t0-ffffff\n{path}\t{start:x}-{end - 1:x}\n")
        result = self.run_shimmed(path, 10, PLUMB_ALIGN="exact", PLUMB_ALIGN_FATAL="1", PLUMB_ALIGN_RANGES=str(ranges))
        self.assertEqual((result.returncode, result.stdout), (-7, ""))
        found = self.hits(self.trace(), "align_known")
        self.assertEqual(found["add_locked"][0][0], 1)
        self.assertEqual(found["store_8"][0][0], 2)


if __name__ == "__main__":
    unittest.main()
