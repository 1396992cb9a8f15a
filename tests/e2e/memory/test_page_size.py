"""Accesses that scatter over small pages: the array and the line are named, the cured and innocent programs are not blamed,
and the gain that is told is what huge pages bring."""

import os
import pathlib
import platform
import subprocess
import time
import unittest

from plumb_test import PROGRAMS, TREE, PlumbTest
from speed_ups import MOST_PAIRS, SpeedUps

SOURCE, EXAMPLE = TREE / "tests" / "programs" / "page_patterns.c", TREE / "examples" / "small-pages" / "walk.h"
SETTING = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
PATTERNS = PROGRAMS / "page_patterns"
BUILT = PROGRAMS.parents[1] / "examples" / "small-pages"
WALK, WALK_HUGE = BUILT / "walk-small", BUILT / "walk-huge"
MEBIBYTES, MILLISECONDS = 256, 1200
BY_MALLOC = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
LONGEST_S = 12


def line_of(text, source=SOURCE):
    [number] = [number for number, line in enumerate(source.read_text().splitlines(), 1) if text in line]
    return number


def setting():
    try:
        return SETTING.read_text().split("[")[1].split("]")[0]
    except (OSError, IndexError):
        return ""


class PageSize(PlumbTest):
    def look(self, *command, **popen):
        """Findings about pages in one run."""
        self.record(*command, options=("-q", "--no-report", "--force", "--budget", "10"), check=0, **popen)
        self.seen = self.report()
        for entry in self.seen["evidence"]:
            if entry["source"] in ("address-sampling", "perf-sampling") and entry["state"] == "missing":
                self.skipTest(f"no sampled addresses here: {entry['why']}")
        return self.findings(self.seen, "page-size", "info")

    def patterns(self, pattern, *more, milliseconds=MILLISECONDS, mebibytes=MEBIBYTES, **popen):
        return self.look(PATTERNS, pattern, mebibytes, milliseconds, *more, **popen)

    def is_named(self, findings, kind, name, line, source, dependent):
        if setting() == "always":
            self.skipTest("transparent huge pages are always given here")
        if not findings and any(each["source"] == "huge-pages" for each in self.seen["evidence"]):
            self.skipTest("this machine is too busy to look at the pages in time")
        self.assertEqual([os.path.basename(finding["subject"]["name"]) for finding in findings], [name])
        [finding] = findings
        self.assertEqual(finding["subject"]["kind"], kind)
        self.assertEqual(finding["where"][0]["line"], line_of(line, source))
        self.assertTrue(finding["where"][0]["file"].endswith(source.name))
        self.assertEqual(finding["evidence"]["waits_for_itself"], dependent)
        self.assertEqual(finding["evidence"]["huge_pages_setting"], setting())
        self.assertLess(finding["evidence"]["huge_page_fraction"], 0.1)
        # Told by how far samples lie from one another: of the 24 that it takes at least, 12 % is one standard deviation.
        self.assertAlmostEqual(finding["evidence"]["footprint_bytes"] / 2**20, MEBIBYTES, delta=MEBIBYTES / 4)
        self.assertGreater(finding["evidence"].get("new_page_fraction", 1), 0.9)
        return finding

    def test_a_table_on_the_heap_is_named_with_the_launch_line(self):
        # Setting the table up scatters over it, too, and takes up to a second: the walk must clearly take longer.
        findings = self.look(WALK, MEBIBYTES, 3 * MILLISECONDS)
        allocated = f"walk.h:{line_of('/* allocated */', EXAMPLE)}"
        finding = self.is_named(findings, "allocation", allocated, "/* step */", EXAMPLE, True)
        if setting() == "madvise":
            self.assertIn("did not request", finding["evidence"]["why_small"])
            self.assertTrue(finding["advice"][0]["command"].startswith("GLIBC_TUNABLES=glibc.malloc.hugetlb=1 plumb run"))

    def test_the_cured_are_not_blamed(self):
        if setting() not in ("always", "madvise"):
            self.skipTest("transparent huge pages are not available here")
        for cured in (WALK_HUGE, {}), (WALK, {"env": BY_MALLOC}):
            findings = self.look(cured[0], MEBIBYTES, MILLISECONDS, **cured[1])
            if findings and findings[0]["evidence"]["huge_page_fraction"] < 0.9:
                self.skipTest("the kernel does not give the huge pages that were asked for, or glibc does not know how")
            self.assertEqual(findings, [])

    def test_the_innocent_are_not_blamed(self):
        for pattern, mebibytes in ("sweep", MEBIBYTES), ("ordered", MEBIBYTES), ("heap", 16):
            self.assertEqual(self.patterns(pattern, milliseconds=800, mebibytes=mebibytes), [], pattern)
        self.assertEqual(self.look(WALK, 1, 800), [])
        for kernel in "triad", "chase", "histogram", "stencil", "column_walk":
            self.assertEqual(self.look(PROGRAMS / "access_kernels", kernel, 500), [], kernel)

    def test_blocks_that_are_gone_through_in_order_are_not_blamed(self):
        findings = self.patterns("blocks", milliseconds=800)
        if findings and "watched_access_count" not in findings[0]["evidence"]:
            self.skipTest("the accesses cannot be watched one after another here (breakpoints of perf events)")
        self.assertEqual(findings, [])

    def test_small_blocks_are_named_by_who_allocated_most_of_them(self):
        source = TREE / "tests" / "programs" / "block_list.c"
        findings = self.look(PROGRAMS / "block_list", MEBIBYTES, 4 * MILLISECONDS)
        finding = self.is_named(findings, "allocation", "heap blocks below 1 MiB", "// step", source, True)
        [most] = finding["subject"]["allocated_at"]
        # 7 of 8, of some 100 blocks that were looked at: four standard errors are 14 %.
        self.assertRegex(most, rf"block_list\.c:{line_of('// often', source)}, (7[4-9]|[89][0-9]|100) % of the bytes")
        self.assertIn(most.split(",")[0], finding["title"])

    def test_gathers_name_variable_and_line(self):
        """What a gather gains differs between machines, and may be too little to be told; what is told must be right."""
        for pattern, kind, name in (("static", "variable", "field"),
                                    ("heap", "allocation", f"page_patterns.c:{line_of('// allocated')}")):
            for finding in self.patterns(pattern):
                self.assertEqual(finding["subject"]["kind"], kind)
                self.assertEqual(os.path.basename(finding["subject"]["name"]), name)
                self.assertEqual(finding["where"][0]["line"], line_of("// gather " + pattern))
                self.assertFalse(finding["evidence"]["waits_for_itself"])

    def step_ns(self, program):
        done = subprocess.run([program, str(MEBIBYTES), "400"], check=True, capture_output=True, text=True)
        return float(done.stdout.split()[0])

    @unittest.skipUnless(platform.machine() == "x86_64", "steps of accesses are told on x86-64 only")
    def test_the_gain_is_what_huge_pages_bring(self):
        """Speed-ups of the accesses alone, told and measured in turn: medians of up to nine."""
        speed_ups = SpeedUps(self)
        begin = time.monotonic()
        while speed_ups.count() < MOST_PAIRS and (speed_ups.count() < 3 or time.monotonic() - begin < LONGEST_S):
            findings = self.look(WALK, MEBIBYTES, 800)
            if not findings or "timed_huge_page_ns" not in findings[0]["evidence"]:
                self.skipTest("huge pages gain nothing here, or are not to be had")
            evidence = findings[0]["evidence"]
            speed_ups.add(evidence["timed_small_page_ns"] / evidence["timed_huge_page_ns"], self.step_ns(WALK) / self.step_ns(WALK_HUGE))
            if speed_ups.agree():
                return
        speed_ups.skip_if_they_scatter()
        if self.look(WALK_HUGE, MEBIBYTES, MILLISECONDS):
            self.skipTest("the kernel does not give the huge pages that were asked for")
        speed_ups.skip_unless_far_apart()


if __name__ == "__main__":
    unittest.main(verbosity=2)
