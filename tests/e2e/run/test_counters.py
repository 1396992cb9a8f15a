"""--with counters: what counts right is used, what does not is refused by its name; a stand-in for PAPI plants each fault."""

import ctypes
import os
import pathlib
import platform
import struct
import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, TREE, PlumbTest, has_mount_namespaces, of_times
from recorder_trace import recorder_trace

FAKE = PROGRAMS / "counters"
WORKS = ("PAPI_TOT_CYC=times:1 PAPI_TOT_INS=times:1 PAPI_REF_CYC=times:1 PAPI_L1_DCM=times:1 PAPI_L3_TCM=times:1 PAPI_TLB_DM=times:1 "
         "CYCLE_ACTIVITY:STALLS_MEM_ANY=times:1 CYCLE_ACTIVITY:STALLS_L3_MISS=times:1 PAPI_DP_OPS=times:1 FP_ARITH:SCALAR_DOUBLE=times:1 PAPI_BR_INS=times:1 PAPI_BR_MSP=times:1 PAPI_RES_STL=times:1")


def has_hardware_counters():
    """Whether the kernel opens a counter of cycles in user mode; what /sys lists is there on machines without them, too."""
    number = {"x86_64": 298, "aarch64": 241}[platform.machine()]
    exclude_kernel, exclude_hypervisor = 1 << 5, 1 << 6
    attributes = ctypes.create_string_buffer(struct.pack("=IIQQQQQ", 0, 64, 0, 0, 0, 0, exclude_kernel | exclude_hypervisor), 64)
    descriptor = ctypes.CDLL(None).syscall(number, attributes, 0, -1, -1, 0)
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


class Counters(PlumbTest):
    def setUp(self):
        super().setUp()
        self.log = self.scratch / "loads"

    def count(self, events=None, options=("--with", "counters"), seconds="0.6", **variables):
        """Records a program with the stand-in, a cache of its own, and these events."""
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.scratch / "cache"), "FAKE_PAPI_LOG": str(self.log), **variables}
        if events is not None:
            environment |= {"LD_LIBRARY_PATH": str(FAKE), "FAKE_PAPI": events}
        self.record(PROGRAMS / "burn", seconds, options=("--force", *options), env=environment, check=0)
        return self.report()

    def evidence(self, report, source="pmu"):
        found = [entry for entry in report["evidence"] if entry["source"] == source]
        return found[0] if found else None

    def without(self, fault, **variables):
        """The reason for which an event is left out whose stand-in has this fault, everything else being right."""
        events = " ".join(fault if word.split("=")[0] == fault.split("=")[0] else word for word in WORKS.split())
        evidence = self.evidence(self.count(events, **variables))
        self.assertNotEqual(evidence["state"], "ok", evidence)
        return evidence["why"]

    def test_right_counters_are_used(self):
        report = self.count(WORKS)
        evidence = self.evidence(report)
        self.assertIn("PAPI 7.0 counts", evidence["why"])
        for name in ("cycles", "instructions", "data TLB misses", "double precision operations"):
            self.assertIn(name, evidence["why"])
        metrics = report["metrics"]
        self.assertIn("instructions_per_cycle", metrics)
        self.assertAlmostEqual(metrics["instructions_per_cycle"]["value"], 1, delta=0.3)  # the stand-in counts 2 a ns of both
        groups = {entry["group"] for entry in recorder_trace(self.run_directory).of("CounterSlice") if entry["flags"] & 1}
        self.assertGreaterEqual(len(groups), 3, "groups take turns")

    def test_sixteen_times_too_high(self):
        self.assertIn("instructions: PAPI 7.0: counts 16 times what known work makes", self.without("PAPI_TOT_INS=times:16"))

    def test_half_of_the_operations(self):
        self.assertIn("double precision operations: PAPI 7.0: counts 0.50 times what known work makes",
                      self.without("PAPI_DP_OPS=times:0.5"))

    def test_three_times_too_high(self):
        self.assertIn("instructions: PAPI 7.0: counts 3 times", self.without("PAPI_TOT_INS=times:3"))

    def test_negative(self):
        self.assertRegex(self.without("PAPI_TOT_CYC=negative"), r"cycles: PAPI 7.0: counts -\d+ for known work")

    def test_a_part_of_the_time(self):
        self.assertIn("branches: PAPI 7.0: counts 0.40 times", self.without("PAPI_BR_INS=times:0.4"))

    def test_known_but_cannot_be_added(self):
        self.assertIn("data cache misses: PAPI 7.0: PAPI_add_named_event: Event does not exist (-7)",
                      self.without("PAPI_L1_DCM=noadd"))

    def test_cannot_be_started(self):
        self.assertIn("PAPI 7.0: PAPI_start: Event exists, but cannot be counted (-8)", self.without("PAPI_TLB_DM=nostart"))

    def test_first_thread_alone(self):
        self.assertIn("instructions: PAPI 7.0: counts one of two threads of known work", self.without("PAPI_TOT_INS=first"))

    @unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one CPU")
    def test_one_kind_of_cpu_alone(self):
        first = str(min(os.sched_getaffinity(0)))
        self.assertRegex(self.without("", FAKE_PAPI_CPUS=first),
                         r"\binstructions\b[^:]*: PAPI 7.0: counts one of two threads of known work: .*not on every CPU")

    def test_nothing_counts(self):
        evidence = self.evidence(self.count(""))
        if has_hardware_counters():
            self.assertNotEqual(evidence["state"], "missing")  # by perf
            return
        self.assertEqual(evidence["state"], "missing")
        self.assertIn("PAPI 7.0: PAPI_add_named_event: Event does not exist (-7)", evidence["why"])
        self.assertIn("perf: perf_event_open: ", evidence["why"])
        self.assertIn("virtual PMU", evidence["enable"])

    def test_another_version(self):
        self.assertIn("PAPI 7.1 counts", self.evidence(self.count(WORKS, FAKE_PAPI_VERSION="7.1"))["why"])

    def test_a_version_that_is_not_known(self):
        self.assertIn("PAPI_library_init: ", self.evidence(self.count(WORKS, FAKE_PAPI_VERSION="9.0"))["why"])

    @unittest.skipUnless(has_mount_namespaces(), "no mount namespaces")
    def test_without_papi(self):
        libraries = [str(path) for path in pathlib.Path("/usr/lib").glob("*/libpapi.so*") if not path.is_symlink()]
        hide = "".join(f"mount --bind /dev/null {path} && " for path in libraries)
        done = subprocess.run(["unshare", "-m", "sh", "-c", f'{hide} exec "$@"', "sh", PLUMB, "run", "--with", "counters", "-o",
                               str(self.run_directory), "--", str(PROGRAMS / "burn"), "0.3"], capture_output=True, text=True,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.scratch / "cache")})
        self.assertEqual(done.returncode, 0, done.stderr)
        evidence = self.evidence(self.report())
        self.assertIn("PAPI is not installed", evidence["why"])
        self.assertIn("libpapi7.0" if has_hardware_counters() else "virtual PMU", evidence["enable"])

    def test_what_was_tested_is_kept(self):
        self.count(WORKS)
        faulty = WORKS.replace("PAPI_TOT_INS=times:1", "PAPI_TOT_INS=times:16")
        self.assertIn("instructions_per_cycle", self.count(faulty)["metrics"])  # not tested again
        (self.scratch / "cache").rename(self.scratch / "old")
        self.assertNotIn("instructions_per_cycle", self.count(faulty)["metrics"])

    def test_not_loaded_unless_asked_for(self):
        report = self.count(WORKS, options=())
        self.assertFalse(self.log.exists(), "PAPI was loaded")
        if not has_hardware_counters():
            self.assertIsNone(self.evidence(report))
        self.count(WORKS, options=("--without", "counters"))
        self.assertFalse(self.log.exists(), "PAPI was loaded")

    def test_no_stalls_for_known_misses(self):
        self.assertRegex(self.without("CYCLE_ACTIVITY:STALLS_MEM_ANY=times:0.001"), r"memory stalls: PAPI 7.0: counts \d+ for known work")

    def test_where_pages_are_touched(self):
        """Nine of ten in the one thread, on its line; nothing of it unless counters are asked for."""
        program, source = FAKE / "touch_pages", TREE / "tests/programs/counters/touch_pages.c"
        lines = {mark: number for number, line in enumerate(source.read_text().splitlines(), start=1)
                 for mark in ("few", "many") if line.endswith(f"// {mark}")}
        self.record(program, "100", options=("--with", "counters"), check=0)
        report = self.report()
        evidence = self.evidence(report, "counter-samples")
        if "page faults" in evidence["why"]:
            self.skipTest(f"page faults cannot be sampled here: {evidence['why']}")
        [faults] = [each for each in report["sampled_events"] if each["event"] == "page faults"]
        self.assertAlmostEqual(faults["events"], 10 * 100 * 256, delta=0.05 * 256000)
        shares = {line["line"]: line["fraction"] for line in faults["lines"] if line["file"].endswith("touch_pages.c")}
        self.assertAlmostEqual(shares[lines["many"]], 0.9, delta=0.03)
        self.assertAlmostEqual(shares[lines["few"]], 0.1, delta=0.03)
        threads = {thread["name"]: thread["fraction"] for thread in faults["threads"]}
        self.assertAlmostEqual(threads["many"], 0.9, delta=0.03)
        text = subprocess.run([PLUMB, "report", "--full", str(self.run_directory)], capture_output=True, text=True, check=True).stdout
        self.assertIn("Page faults by source line", text)
        self.assertIn("by thread: many (", text)
        self.record(program, "20", options=("--force",), check=0)
        self.assertNotIn("sampled_events", self.report())

    def test_in_which_regions_pages_are_touched(self):
        """A thread without regions works for the first one; what is inside two regions counts in both."""
        self.record(FAKE / "touch_in_regions", "100", options=("--with", "counters"), check=0)
        report = self.report()
        evidence = self.evidence(report, "counter-samples")
        if "page faults" in evidence["why"]:
            self.skipTest(f"page faults cannot be sampled here: {evidence['why']}")
        [faults] = [each for each in report["sampled_events"] if each["event"] == "page faults"]
        regions = {region["name"]: region["fraction"] for region in faults["regions"]}
        for name, share in {"fill": 0.2, "sweep": 0.3, "tile": 0.1, "team": 0.2, "own": 0.2}.items():
            self.assertAlmostEqual(regions[name], share, delta=0.04, msg=regions)  # some 250 samples, at even distances
        text = subprocess.run([PLUMB, "report", "--full", str(self.run_directory)], capture_output=True, text=True, check=True).stdout
        self.assertIn("by region: sweep ", text)

    @of_times  # the kernel's event counts on while the hypervisor has the CPU, the program's CPU time does not
    def test_what_the_kernel_counts(self):
        report = self.count(options=("--with", "counters"))
        evidence = self.evidence(report, "kernel-events")
        if evidence["state"] != "ok":
            self.skipTest(f"the kernel counts little here: {evidence['why']}")
        metrics = report["metrics"]
        for name in ("counted_context_switches", "counted_cpu_migrations", "counted_page_faults"):
            self.assertIn(name, metrics)
        clock = sum(entry["count"] for entry in recorder_trace(self.run_directory).of("CounterSlice") if entry["event"] == "CPU clock")
        self.assertAlmostEqual(clock * 1e-9, metrics["cpu_time"]["value"], delta=0.1 * metrics["cpu_time"]["value"] + 0.03)


if __name__ == "__main__":
    unittest.main()
