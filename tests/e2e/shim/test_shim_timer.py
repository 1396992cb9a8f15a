"""The timer fallback: samples add up to the CPU time, stand where it was spent, and disturb no signal."""

import subprocess
import unittest

from plumb_test import of_times
from shim_test import SHIM_PROGRAMS, ShimTest


def functions_of(program):
    """{name: (first address, first behind it)} as in the file."""
    symbols = subprocess.run(["nm", "-S", str(program)], capture_output=True, text=True, check=True).stdout
    fields = [line.split() for line in symbols.splitlines()]
    return {f[3]: (int(f[0], 16), int(f[0], 16) + int(f[1], 16)) for f in fields if len(f) == 4}


class Timer(ShimTest):
    def record_burning(self, hz):
        self.run_both("burn_signals", PLUMB_TIMER_HZ=hz)
        trace = self.trace()
        main = next(module for module in trace.of("ModuleLoad") if module["flags"] & 1)
        base = main["start"] - main["file_offset"]
        nodes = {node["id"]: node for node in trace.of("PathNode")}
        functions = functions_of(SHIM_PROGRAMS / "burn_signals")
        def function_at(address):
            return next((name for name, (low, high) in functions.items() if low <= address - base < high), None)
        sites = []
        for site in trace.of("SampleSite"):
            path, node = [], nodes[site["path"]]
            while node:
                path.append(function_at(node["address"] - 1))
                node = nodes.get(node["parent"])
            sites.append((path, site))
        return trace, sites

    @of_times
    def test_samples_add_up_and_stand_where_the_time_went(self):
        trace, sites = self.record_burning("200")
        def seconds(wanted):
            return sum(site["time_ns"] for path, site in sites if wanted(path, site)) / 1e9
        cpu = sum(end["cpu_time_ns"] for end in trace.of("ThreadEnd")) / 1e9
        self.assertAlmostEqual(seconds(lambda path, site: True) / cpu, 1.0, delta=0.15)
        first = seconds(lambda path, site: site["tid"] == trace.pid)
        self.assertAlmostEqual(seconds(lambda path, site: "burn_long" in path) / first, 0.75, delta=0.1)
        self.assertAlmostEqual(seconds(lambda path, site: "burn_short" in path) / first, 0.25, delta=0.1)
        called_by_main = seconds(lambda path, site: "burn_long" in path and "main" in path)
        self.assertGreater(called_by_main, 0.9 * seconds(lambda path, site: "burn_long" in path))
        # It blocked every signal, also the timer's.
        self.assertGreater(seconds(lambda path, site: "burn_blocked" in path), 0.2)

    @of_times
    def test_time_in_the_kernel_is_told(self):
        _, sites = self.record_burning("200")
        reader = [(site["kernel"], site["samples"]) for path, site in sites if "burn_in_kernel" in path]
        self.assertGreater(sum(kernel for kernel, _ in reader), 0.8 * sum(samples for _, samples in reader))
        burner = [(site["kernel"], site["samples"]) for path, site in sites if "burn_long" in path]
        self.assertLess(sum(kernel for kernel, _ in burner), 0.1 * sum(samples for _, samples in burner))

    def test_rate_is_capped_and_the_evidence_says_what_is_limited(self):
        trace, sites = self.record_burning("100000")
        self.assertEqual({site["time_ns"] // site["samples"] for _, site in sites}, {4_000_000})
        evidence = [entry for entry in trace.of("Evidence") if entry["source"] == "timer-sampling"]
        self.assertEqual([entry["state"] for entry in evidence], [2])
        self.assertIn("250 times a second", evidence[0]["why"])

    def test_program_takes_every_signal(self):
        self.run_both("burn_signals", "take", PLUMB_TIMER_HZ="250")
        trace = self.trace()
        self.assertIn("timer-signal", [entry["source"] for entry in trace.of("Evidence")])
        self.assertEqual(trace.end, ("exit", 0))

    def test_other_programs_notice_nothing(self):
        for program in ("forks", "children", "thread_ends", "throws"):
            with self.subTest(program):
                self.run_both(program, PLUMB_TIMER_HZ="250")


if __name__ == "__main__":
    unittest.main()
