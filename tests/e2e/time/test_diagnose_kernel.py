"""Kernel time by cause."""

import os
import unittest

from plumb_test import PROGRAMS, PlumbTest, of_times


class KernelTime(PlumbTest):
    def setUp(self):
        super().setUp()
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as level:
            self.kernel_is_sampled = os.geteuid() == 0 or int(level.read()) <= 1

    def the_finding(self, mode, rounds):
        self.record(PROGRAMS / "kernel_mix", mode, rounds, check=0)
        report = self.report()
        findings = self.findings(report, "kernel-time", "low" if self.kernel_is_sampled else "info")
        self.assertTrue(findings, report["findings"])
        accounted = report["metrics"]["kernel_fraction"]["value"]
        if self.kernel_is_sampled: # the samples and the kernel's own accounting are two witnesses
            self.assertAlmostEqual(findings[0]["evidence"]["kernel_fraction"], accounted, delta=0.15)
        return findings[0]

    @of_times
    def test_small_reads(self):
        finding = self.the_finding("reads", 6000000)
        if self.kernel_is_sampled:
            self.assertEqual(finding["subject"]["cause"], "read")
            self.assertGreater(finding["cost"]["fraction"], 0.1)
        else:
            self.assertIn("perf_event_paranoid", finding["advice"][0]["command"])

    @of_times
    def test_page_faults(self):
        finding = self.the_finding("faults", 600)
        # counted when the thread was last looked at, shortly before it ended
        self.assertGreater(finding["evidence"]["minor_fault_count"], 0.5 * 600 * 1024)
        self.assertLess(finding["evidence"]["minor_fault_count"], 1.1 * 600 * 1024)
        if self.kernel_is_sampled:
            self.assertEqual(finding["subject"]["cause"], "page faults")
            self.assertEqual(finding["where"][0]["function"].split("::")[-1], "fresh_pages")

    def test_arithmetic(self):
        self.record(PROGRAMS / "kernel_mix", "none", 800000000, check=0)
        report = self.report()
        self.assertEqual(self.findings(report, "kernel-time", "info"), [])
        self.assertEqual(self.findings(report, "library-time", "info"), [])
        self.assertEqual(self.findings(report, "heap-bound", "info"), [])


if __name__ == "__main__":
    unittest.main()
