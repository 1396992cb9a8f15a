"""Heap diagnoses on programs whose truth is known."""

import os
import subprocess
import unittest

from plumb_test import PROGRAMS, PlumbTest, of_times


def cpu_of(command, **environment):
    """User and system seconds of one run."""
    before = os.times()
    subprocess.run([*map(str, command)], check=True, env={**os.environ, **environment})
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


class Heap(PlumbTest):
    ROUNDS, ARITHMETIC = 60000, 10000

    def mix(self):
        return [PROGRAMS / "heap_mix", self.ROUNDS, self.ARITHMETIC]

    @of_times
    def test_share_agrees_with_the_cured_program(self):
        self.record(*self.mix(), check=0)
        findings = self.findings(self.report(), "heap-bound", "low")
        self.assertEqual(len(findings), 1)
        finding = findings[0]
        self.assertEqual(finding["evidence"]["allocation_count"] // 1000 / self.ROUNDS, 1)
        # The program without its allocations says what they cost; this machine's speed wanders, so pairs.
        pairs = [(cpu_of(self.mix()), cpu_of(self.mix(), HEAP_MIX_POOL="1")) for _ in range(3)]
        share = sorted(1 - pooled / plain for plain, pooled in pairs)[1]
        self.assertAlmostEqual(finding["evidence"]["heap_fraction"], share, delta=0.15)

    def test_lines_are_the_users(self):
        self.record(*self.mix(), check=0)
        finding = self.findings(self.report(), "heap-bound", "low")[0]
        for where in finding["where"]:
            self.assertNotIn("libc", where["module"])
            self.assertNotIn("libstdc++", where["module"])
        if finding["where"]:
            self.assertEqual(os.path.basename(finding["where"][0]["file"]), "heap_mix.cpp")

    def test_pooled_program_is_clean(self):
        self.record(*self.mix(), check=0, env={**os.environ, "HEAP_MIX_POOL": "1"})
        report = self.report()
        for identifier in ("heap-bound", "heap-contention", "heap-leak"):
            self.assertEqual(self.findings(report, identifier, "info"), [])

    def test_a_single_thread_does_not_contend(self):
        self.record(PROGRAMS / "arena_fight", 1, 5000000, check=0)
        self.assertEqual(self.findings(self.report(), "heap-contention", "info"), [])

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
    def test_threads_in_one_arena_contend(self):
        self.record(PROGRAMS / "arena_fight", 4, 6000000, check=0)
        report = self.report()
        findings = self.findings(report, "heap-contention", "low")
        if not findings and any("Other programs" in each["title"] for each in report["findings"]):
            self.skipTest("other programs take the CPUs: the threads seldom run at the same time")
        self.assertEqual(len(findings), 1)
        self.assertEqual(os.path.basename(findings[0]["where"][0]["file"]), "arena_fight.cpp")
        self.assertGreater(findings[0]["evidence"]["thread_count"], 1)

    def test_a_leak_is_info_and_a_kept_buffer_is_not_a_leak(self):
        self.record(PROGRAMS / "steady_leak", 3, check=0)
        findings = self.findings(self.report(), "heap-leak", "info")
        self.assertEqual(len(findings), 1, findings)
        self.assertEqual(findings[0]["severity"], "info")
        self.assertEqual(findings[0]["where"][0]["function"].split("::")[-1], "leak_some")
        # 20,000 bytes ten times every 10 ms or a little more; the estimate is of sampled bytes.
        self.assertGreater(findings[0]["evidence"]["live_fraction"], 0.9)
        self.assertLess(findings[0]["evidence"]["live_bytes"], 3 * 100 * 10 * 20000 * 1.2)


if __name__ == "__main__":
    unittest.main()
