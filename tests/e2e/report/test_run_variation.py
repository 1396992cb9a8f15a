#!/usr/bin/env python3
"""plumb repeat on runs that differ for a planted reason: the reason has four fifths of the variance; even runs have none."""

import json
import os
import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest, breaches

RUNS = 16
DRAWN = "1011010001101001"  # eight of each, in no order
WAITING = "runnable, waiting for a CPU"
LEAST_SHARE = 0.2
BY_MACHINE = ["CPU time of other programs", "CPU time taken by the hypervisor"]
TRIES = 3  # others use the CPUs as well
CPUS = sorted(os.sched_getaffinity(0))


class RunVariation(PlumbTest):
    def repeat(self, script, runs=RUNS):
        """The variation of `script`, in which $drawn is 0 or 1 by run."""
        count = self.scratch / "count"
        count.write_text("")
        draw = (f"n=$(wc -l <{count}); echo x >>{count}; drawn=$(echo {DRAWN}{DRAWN} | cut -c$((n + 1)));")
        folder = self.scratch / f"set{len(list(self.scratch.iterdir()))}"
        done = subprocess.run([PLUMB, "repeat", "-n", str(runs), "--warm-up", "0", "-o", folder, "--format", "json", "--", "sh", "-c",
                               draw + script], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        self.assertEqual(breaches(result, "repetition"), [])
        return result["commands"][0]["variation"]

    def check_condition(self, script, name, runs=RUNS):
        """Four fifths of the variance, but for what the machine adds: waiting for CPUs that others use, and its own changing speed."""
        for attempt in range(TRIES):
            variation = self.repeat(script, runs)
            if self.is_cause(variation, name):
                self.assertTrue(variation["is_known"])
                return variation
        self.fail(json.dumps(variation, indent=1))

    def is_cause(self, variation, name):
        by_machine = self.waiting(variation) + max(0, variation["unexplained_fraction"])
        wrong = [one["name"] for one in variation["conditions"] if name not in [one["name"], *one["equally"], *BY_MACHINE]]
        return not wrong and self.share(variation, name) >= max(LEAST_SHARE, 0.8 * (1 - by_machine))

    @staticmethod
    def share(variation, name):
        return sum(one["variance_fraction"] for one in variation["conditions"] if name in [one["name"], *one["equally"]])

    @staticmethod
    def waiting(variation):
        return sum(part["variance_fraction"] for part in variation["parts"] if part["name"] == WAITING)

    @unittest.skipUnless(len(CPUS) >= 2, "one CPU")
    def test_the_cpu(self):
        last = os.cpu_count() - 1
        if last not in CPUS:
            self.skipTest("the last CPU may not be used")
        script = f"if [ $drawn = 1 ]; then cpu={last}; else cpu={CPUS[0]}; fi; taskset -c $cpu {PROGRAMS}/cpu_work 2000 250"
        self.check_condition(script, "the CPU of its busiest thread")

    def test_the_environment_moves_the_stack(self):
        script = (f"if [ $drawn = 1 ]; then fill=; else fill=0123456789abcdef; fi; "
                  f"FILL=$fill FILLED=0123456789abcdef exec setarch -R {PROGRAMS}/stack_records 12")
        # Which of the four positions the two lengths meet depends on the rest of the environment.
        for filling in range(4):
            variation = self.repeat("PAD=" + "x" * 16 * filling + "; export PAD; " + script)
            if self.is_cause(variation, "the size of its environment"):
                return
        self.fail(json.dumps(variation, indent=1))

    def test_the_stack_is_elsewhere_in_each_run(self):
        variation = self.check_condition(f"exec {PROGRAMS}/stack_records 12", "where its stack begins within a cache line", 30)
        self.assertIn("align", variation["conditions"][0]["advice"])

    def test_huge_pages(self):
        script = f"if [ $drawn = 1 ]; then tunable=1; else tunable=0; fi; GLIBC_TUNABLES=glibc.malloc.hugetlb=$tunable exec {PROGRAMS}/page_work 16 60"
        self.check_condition(script, "its memory on huge pages")

    def test_a_neighbour_on_the_same_cpu(self):
        work = f"taskset -c {CPUS[0]} {PROGRAMS}/cpu_work 1000 250"
        script = f"if [ $drawn = 1 ]; then taskset -c {CPUS[0]} {PROGRAMS}/cpu_work 1000 100000 >/dev/null & {work}; kill $!; else {work}; fi"
        for attempt in range(TRIES):
            variation = self.repeat(script)
            if variation["is_known"] and self.waiting(variation) >= 0.8:
                return
        self.fail(json.dumps(variation, indent=1))

    def test_even_runs_have_no_cause_but_what_other_programs_do(self):
        variation = self.repeat(f"exec {PROGRAMS}/cpu_work 1000 250")
        names = [one["name"] for one in variation["conditions"]]
        self.assertLessEqual(set(names), set(BY_MACHINE))
        if variation["is_known"] and not names:  # the machine's own speed changes, too
            self.assertTrue(variation["parts"][0]["name"] == WAITING or variation["unexplained_fraction"] >= 0.5, variation)


if __name__ == "__main__":
    unittest.main()
