"""examples/power-of-two-stride: array, line, stride and padding are named, the cured and innocent programs are not blamed,
and the gain that is told is what the cure brings."""

import pathlib
import resource
import subprocess
import unittest

from plumb_test import PROGRAMS, TREE, PlumbTest
from speed_ups import MOST_PAIRS, SpeedUps

SOURCES = TREE / "examples" / "power-of-two-stride"
BUILT = PROGRAMS.parents[1] / "examples" / "power-of-two-stride"
KERNELS = TREE / "tests" / "programs" / "access_kernels.c"
STEPS = 300


def line_of(file, text):
    [number] = [number for number, line in enumerate((SOURCES / file).read_text().splitlines(), 1) if text in line]
    return number


def crowds_caches():
    """Whether the examples' rows of 16 KiB fall into few sets of this machine's caches, as the kernel describes them."""
    for folder in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            if (folder / "type").read_text().strip() != "Instruction" and (folder / "level").read_text().strip() == "2":
                sets, ways = (int((folder / name).read_text()) for name in ("number_of_sets", "ways_of_associativity"))
                return sets * ways > 512 and max(1, sets // 256) * ways < 256  # of the 512 lines of a walk
        except (OSError, ValueError):
            pass
    return False


class ExampleStride(PlumbTest):
    def look(self, path, *arguments):
        """Findings about strides in one run of a program."""
        if not path.exists():
            self.skipTest(f"{path.name} is not built here (no Fortran compiler)")
        self.record(path, *arguments, options=("-q", "--no-report", "--force", "--budget", "10"), check=0)
        report = self.report()
        for entry in report["evidence"]:
            if entry["source"] in ("address-sampling", "perf-sampling") and entry["state"] == "missing":
                self.skipTest(f"no sampled addresses here: {entry['why']}")
        return self.findings(report, "power-of-two-stride", "info")

    def is_named(self, findings, name, line):
        if not crowds_caches():
            self.skipTest("the caches of this machine are not described, or hold rows of 16 KiB side by side")
        self.assertEqual([finding["subject"]["name"] for finding in findings], [name])
        [finding] = findings
        self.assertEqual(finding["subject"]["kind"], "variable")
        self.assertEqual(finding["where"][0]["line"], line)
        self.assertEqual(finding["evidence"]["stride_bytes"], 16384)
        self.assertEqual(finding["evidence"]["padding_bytes"], 64)
        self.assertAlmostEqual(finding["evidence"]["walk_access_count"], 512, delta=50)
        self.assertIn("2,056 elements of 8 bytes instead of 2,048", finding["advice"][0]["how"])

    def test_c_is_named(self):
        findings = self.look(BUILT / "stride-wide", STEPS)
        self.is_named(findings, "field", line_of("profile.h", "sum += field[row][column]"))
        self.assertTrue(findings[0]["where"][0]["file"].endswith("power-of-two-stride/profile.h"))

    def test_fortran_is_named(self):
        findings = self.look(BUILT / "stride-fortran-wide", STEPS)
        self.is_named(findings, "profile::field", line_of("profile.f90", "row_mean = row_mean + field"))

    def test_an_array_of_the_heap_is_named_by_who_allocated_it(self):
        findings = self.look(PROGRAMS / "access_kernels", "column_walk", 1200)
        if not crowds_caches():
            self.skipTest("the caches of this machine are not described, or hold rows of 16 KiB side by side")
        if not findings:
            self.skipTest("longer rows gain nothing here")
        [finding] = findings
        self.assertEqual(finding["subject"]["kind"], "allocation")
        self.assertTrue(finding["subject"]["name"].endswith(f"access_kernels.c:{line_of(KERNELS, 'aligned_alloc(4096')}"))
        self.assertEqual(finding["subject"]["bytes"], (2**20 + 8) * 8)
        self.assertLess(finding["subject"]["offset_bytes"], 2**20 * 8)
        self.assertEqual(finding["where"][0]["line"], line_of(KERNELS, "sum += matrix[row * kColumns + column]"))

    def test_the_cured_are_not_blamed(self):
        self.assertEqual(self.look(BUILT / "stride-padded", 2 * STEPS), [])
        self.assertEqual(self.look(BUILT / "stride-fortran-padded", 2 * STEPS), [])

    def test_the_innocent_are_not_blamed(self):
        for kernel in "triad", "chase", "histogram", "stencil":
            self.assertEqual(self.look(PROGRAMS / "access_kernels", kernel, 400), [], kernel)

    def cpu_seconds(self, program):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([BUILT / program, str(STEPS)], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime

    def test_the_gain_is_what_the_cure_brings(self):
        """Speed-ups by CPU time, told and measured in turn: medians of up to nine."""
        speed_ups = SpeedUps(self)
        for _ in range(MOST_PAIRS):
            findings = self.look(BUILT / "stride-wide", STEPS)
            if not findings:
                self.skipTest("the caches of this machine hold the walk in any case")
            speed_ups.add(1 / (1 - findings[0]["gain"]["fraction"]), self.cpu_seconds("stride-wide") / self.cpu_seconds("stride-padded"))
            if speed_ups.agree():
                return
        speed_ups.skip_if_they_scatter()
        speed_ups.skip_unless_far_apart()


if __name__ == "__main__":
    unittest.main(verbosity=2)
