"""plumb.h and the Fortran module: pinning works without the tool, regions are recorded with it."""

import os
import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest

ALLOWED = sorted(os.sched_getaffinity(0))
LAST = len(ALLOWED) - 1


def facts(*command, environment=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, check=True,
                          env={**os.environ, **(environment or {})})
    return dict(line.split(": ", 1) for line in done.stdout.splitlines())


class PublicApiTest(PlumbTest):
    def test_relative_cpus_count_over_what_the_process_was_allowed(self):
        for program in ("use_api", "use_api_static"):
            with self.subTest(program=program):
                self.assertEqual(facts(PROGRAMS / program),
                                 {"count": str(len(ALLOWED)), "first": str(ALLOWED[0]), "behind": "-1",
                                  "negative": "-1", "mask": " ".join(map(str, ALLOWED))})
                narrowed = facts("taskset", "-c", ALLOWED[LAST], PROGRAMS / program)
                self.assertEqual((narrowed["count"], narrowed["first"]), ("1", str(ALLOWED[LAST])))

    def test_pinning_works_without_the_tool_whatever_the_mask_has_become(self):
        for program in ("use_api", "use_api_static"):
            for n in range(len(ALLOWED)):
                seen = facts(PROGRAMS / program, "pin", n)
                self.assertEqual((seen["pin_cpu"], seen["mask"]), ("0", str(ALLOWED[n])))
                for call in ("pin", "pin_memory"):
                    self.assertIn(int(seen[call]), (0, 1, 38))  # EPERM, ENOSYS: no memory policies here
        self.assertEqual(facts(PROGRAMS / "use_api", "pin", len(ALLOWED))["pin_cpu"], "22")

    def test_under_plumb_pin_the_numbers_count_over_the_jobs_cpus(self):
        seen = facts(PLUMB, "pin", "-q", "--list", LAST, "--", PROGRAMS / "use_api")
        self.assertEqual((seen["count"], seen["mask"]), (str(len(ALLOWED)), str(ALLOWED[LAST])))

    def test_a_rank_that_its_launcher_bound_counts_over_the_launchers_cpus(self):
        if LAST < 1:
            self.skipTest("needs two CPUs")
        launcher = self.scratch / "orted"  # a script's process has its file's name
        launcher.write_text(f"#!/bin/sh\ntaskset -c {ALLOWED[0]} \"$@\"\nexit $?\n")
        launcher.chmod(0o755)
        rank = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}
        seen = facts(launcher, PROGRAMS / "use_api", environment=rank)
        self.assertEqual((seen["count"], seen["mask"]), (str(len(ALLOWED)), str(ALLOWED[0])))
        seen = facts("taskset", "-c", ALLOWED[LAST], launcher, "sh", "-c", f"taskset -c {ALLOWED[LAST]} {PROGRAMS}/use_api; :",
                     environment=rank)
        self.assertEqual((seen["count"], seen["first"]), ("1", str(ALLOWED[LAST])))

    def test_without_a_launcher_to_ask_the_cpuset_counts(self):
        rank = {"PMI_RANK": "0", "MPI_LOCALRANKID": "0"}
        seen = facts("taskset", "-c", ALLOWED[0], PROGRAMS / "use_api", environment=rank)
        self.assertGreaterEqual(int(seen["count"]), len(ALLOWED))
        self.assertEqual(seen["mask"], str(ALLOWED[0]))  # looking did not change the mask

    def test_regions_do_nothing_without_the_tool(self):
        self.assertEqual(facts(PROGRAMS / "use_api", "regions"), {"recording": "0"})

    def test_regions_are_recorded_with_it(self):
        done = self.record(PROGRAMS / "use_api", "regions", options=("-q", "--no-report"), check=0)
        self.assertEqual(done.stdout, "recording: 1\n")
        traces = b"".join(path.read_bytes() for path in self.run_directory.iterdir() if path.suffix == ".plumb")
        self.assertEqual(traces.count(b"outer"), 1)  # the name once, however often the region runs
        self.assertEqual(traces.count(b"inner"), 1)
        regions = {region["name"]: region for region in self.report()["regions"]}
        self.assertEqual({name: (region["entries"], region["threads"], region["open"])
                          for name, region in regions.items()}, {"outer": (3, 1, 0), "inner": (3, 1, 0)})
        self.assertGreaterEqual(regions["outer"]["seconds"], regions["inner"]["seconds"])
        self.assertGreaterEqual(regions["outer"]["longest_seconds"], regions["outer"]["seconds"] / 3)

    def test_threads_of_a_fortran_openmp_program(self):
        program = PROGRAMS / "use_api_openmp"
        if not program.exists():
            self.skipTest("built without a Fortran compiler")
        for command in ([program], [PLUMB, "run", "-q", "--no-report", "-o", self.run_directory, "--", program]):
            seen = facts(*command)
            for thread in range(4):
                answer, cpu = seen[f"thread {thread}"].split()
                self.assertIn(int(answer), (0, 1, 38))
                self.assertEqual(int(cpu), ALLOWED[thread % len(ALLOWED)])
        self.assertEqual(seen["recording"], "T")


if __name__ == "__main__":
    unittest.main()
