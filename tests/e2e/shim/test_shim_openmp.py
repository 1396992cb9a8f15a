"""OpenMP with GCC's runtime: regions and waits are counted exactly, times are what the program knows of them, and nobody notices."""

import pathlib
import shutil
import subprocess
import unittest

from plumb_test import TREE, of_times
from shim_test import SHIM_PROGRAMS, ShimTest
from trace_reader import FORMAT

REGIONS = 25
BARRIER, CRITICAL = (FORMAT.value("OmpWaitKind", name) for name in ("barrier", "critical"))
NESTED, TASKS = (FORMAT.value("OmpRegionFlags", name) for name in ("kOmpNested", "kOmpTasks"))
SCHEDULES = [FORMAT.value("OmpSchedule", name) for name in ("none", "dynamic", "guided", "runtime", "sections")]
DYNAMIC = SCHEDULES[1]


class TeamsTest(ShimTest):
    """What the tests of both runtimes share; their record() runs openmp_teams and returns its trace."""

    @staticmethod
    def milliseconds(trace, ticks):
        clock, = trace.of("OmpRuntime")
        return ticks * (clock["last_ns"] - clock["first_ns"]) / (clock["last_ticks"] - clock["first_ticks"]) * 1e-6

    def trace_with_a_late_thread(self, policy):
        """The first thread waits for the last one at the end of each region."""
        for path in self.run_directory.iterdir():
            path.unlink()
        trace = self.record("late", 40, **({"OMP_WAIT_POLICY": policy} if policy else {}))
        first, last = sorted(trace.of("OmpPart"), key=lambda part: part["number"])
        # 2 ms in 40 regions; whoever is late by itself on a busy machine works that much longer.
        self.assertGreater(self.milliseconds(trace, first["end_wait_ticks"]), 40)
        self.assertLess(self.milliseconds(trace, last["end_wait_ticks"]), self.milliseconds(trace, first["end_wait_ticks"]) / 2)
        return trace


@unittest.skipUnless((SHIM_PROGRAMS / "openmp_teams").exists(), "no compiler with GCC's OpenMP runtime")
class Teams(TeamsTest):
    def record(self, word, count=REGIONS, threads=2, **variables):
        self.run_both("openmp_teams", word, count, OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false", **variables)
        return self.trace("openmp_teams")

    def test_every_kind_of_region_is_counted(self):
        trace = self.record("regions", threads=3)
        regions = trace.of("OmpRegion")
        self.assertEqual(sorted(region["schedule"] for region in regions),
                         sorted(SCHEDULES))
        for region in regions:
            self.assertEqual((region["begun"], region["ended"], region["compared"]), (REGIONS,) * 3)
            self.assertEqual((region["most_threads"], region["threads"]), (3, 3 * REGIONS))
            self.assertEqual(sum(region["lengths"]), REGIONS)
            parts = [part for part in trace.of("OmpPart") if part["function"] == region["function"]]
            self.assertEqual(sorted(part["number"] for part in parts), [0, 1, 2])
            self.assertEqual([part["parts"] for part in parts], [REGIONS] * 3)
            self.assertEqual(sum(part["lasts"] for part in parts), REGIONS)
        self.assertEqual([region["chunk"] for region in regions if region["schedule"] == DYNAMIC], [3])
        self.assertIn("libgomp", trace.of("OmpRuntime")[0]["name"])
        self.assertEqual((trace.of("OmpRuntime")[0]["refused"], trace.of("OmpRuntime")[0]["unmatched"]), (0, 0))

    @of_times
    def test_waits_at_the_end_of_a_region(self):
        for policy in ("", "active", "passive"):
            with self.subTest(policy=policy):
                trace = self.trace_with_a_late_thread(policy)
                region, = trace.of("OmpRegion")
                self.assertGreater(self.milliseconds(trace, region["imbalance"]), 20)
                self.assertLessEqual(region["imbalance"], region["wall_ticks"])
                self.assertLessEqual(region["cpu_imbalance"], region["clocked_imbalance"])

    @of_times
    def test_waits_at_barriers(self):
        trace = self.record("barriers", 40)
        waits = {wait["tid"]: wait for wait in trace.of("OmpWait") if wait["kind"] == BARRIER}
        self.assertEqual([wait["calls"] for wait in waits.values()], [40, 40])
        number = {part["tid"]: part["number"] for part in trace.of("OmpPart")}
        by_number = {number[tid]: self.milliseconds(trace, wait["wait_ticks"]) for tid, wait in waits.items()}
        self.assertGreater(by_number[1], 40)
        self.assertLess(by_number[0], by_number[1] / 2)
        for part in trace.of("OmpPart"):
            self.assertAlmostEqual(part["wait_ticks"], waits[part["tid"]]["wait_ticks"], delta=part["span_ticks"] * 0.05)

    @of_times
    def test_criticals_and_locks(self):
        trace = self.record("criticals", 20)
        waits = trace.of("OmpWait")
        named = [wait for wait in waits if wait["kind"] == CRITICAL and wait["object"] != 0]
        self.assertEqual([wait["calls"] for wait in named], [20, 20])
        self.assertEqual(sum(wait["calls"] for wait in waits if wait["kind"] == CRITICAL and wait["object"] == 0), 40)
        # It is held for 1 ms 40 times, and next to nothing else is done: most of the time somebody waits.
        self.assertGreater(self.milliseconds(trace, sum(wait["wait_ticks"] for wait in waits)), 10)
        held = sum(wait["hold_ticks"] for wait in named)
        self.assertGreater(self.milliseconds(trace, held), 0.9 * sum(wait["holds"] for wait in named))

    def test_nested_regions_have_their_own_records(self):
        trace = self.record("nested")
        outer = [region for region in trace.of("OmpRegion") if not region["flags"] & NESTED]
        inner = [region for region in trace.of("OmpRegion") if region["flags"] & NESTED]
        self.assertEqual([(region["ended"], region["most_threads"]) for region in outer], [(REGIONS, 2)])
        self.assertEqual(sum(region["ended"] for region in inner), 2 * REGIONS)
        self.assertEqual({region["most_threads"] for region in inner}, {3})

    def test_regions_with_tasks_are_not_compared(self):
        region, = self.record("tasks").of("OmpRegion")
        self.assertTrue(region["flags"] & TASKS)
        self.assertEqual((region["ended"], region["compared"]), (REGIONS, 0))

    def test_cancelled_loops(self):
        region, = self.record("cancel", OMP_CANCELLATION="true").of("OmpRegion")
        self.assertEqual(region["compared"], REGIONS)

    def test_several_threads_start_regions(self):
        trace = self.record("masters")
        regions = trace.of("OmpRegion")
        self.assertEqual([region["ended"] for region in regions], [REGIONS] * 3)
        self.assertEqual(len({region["tid"] for region in regions}), 3)

    def test_a_forked_child_has_records_of_its_own(self):
        self.run_both("openmp_teams", "forks", REGIONS, OMP_NUM_THREADS="2")
        traces = self.traces("openmp_teams")
        self.assertEqual(len(traces), 2)
        for trace in traces:
            self.assertEqual([region["ended"] for region in trace.of("OmpRegion")], [REGIONS])

    def test_a_process_that_ends_inside_a_region(self):
        trace = self.record("ends")
        self.assertEqual(sorted((region["begun"], region["ended"]) for region in trace.of("OmpRegion")), [(1, 0), (REGIONS, REGIONS)])

    def test_runtimes_in_scopes_of_their_own(self):
        plugin = SHIM_PROGRAMS / "plugins" / "team_plugin.so"
        found = [line.split("=>")[1].split()[0] for line in self.finish(("/usr/bin/ldd", plugin), None).stdout.splitlines()
                 if "libgomp" in line]
        folder = pathlib.Path(self.run_directory).parent / "second"
        folder.mkdir()
        # A second runtime under another name, as Python's packages bring theirs along.
        for source, name in ((found[0], "libgom2.so.1"), (plugin, "team_plugin2.so")):
            (folder / name).write_bytes(pathlib.Path(source).read_bytes().replace(b"libgomp.so.1", b"libgom2.so.1"))
        done = self.run_both("opens_team", plugin, folder / "team_plugin2.so", LD_LIBRARY_PATH=str(folder))
        self.assertEqual(done.stdout, "300\n" * 4)
        regions = self.trace("opens_team").of("OmpRegion")
        self.assertGreaterEqual(sum(region["ended"] for region in regions), 400)
        shutil.rmtree(folder)


class TeamsOfAnotherRuntime(TeamsTest):
    """LLVM's runtime, which reports to tools."""

    def setUp(self):
        super().setUp()
        compiler = shutil.which("clang-14") or shutil.which("clang")
        self.program = self.run_directory.parent / "teams"
        source = TREE / "tests" / "programs" / "shim" / "openmp_teams.c"
        done = subprocess.run([compiler, "-O1", "-g", "-fopenmp", "-pthread", str(source), "-o", str(self.program)],
                              capture_output=True, text=True) if compiler else None
        if not done or done.returncode != 0:
            self.skipTest("no clang with OpenMP")

    def record(self, word, count=REGIONS, threads=2, **variables):
        self.run_both(self.program, word, count, OMP_NUM_THREADS=str(threads), OMP_DYNAMIC="false", **variables)
        return self.trace("teams")

    def test_regions_are_counted(self):
        trace = self.record("regions", threads=3)
        regions = trace.of("OmpRegion")
        self.assertEqual([region["compared"] for region in regions], [REGIONS] * 5)
        self.assertEqual([region["most_threads"] for region in regions], [3] * 5)
        for region in regions:
            parts = [part for part in trace.of("OmpPart") if part["call_site"] == region["call_site"]]
            self.assertEqual(sorted(part["number"] for part in parts), [0, 1, 2])
            self.assertEqual([part["parts"] for part in parts], [REGIONS] * 3)
        self.assertEqual(trace.of("OmpRuntime")[0]["unmatched"], 0)

    @of_times
    def test_waits_at_the_end_of_a_region(self):
        for policy in ("", "active", "passive"):
            with self.subTest(policy=policy):
                self.trace_with_a_late_thread(policy)

    def test_waits_inside(self):
        waits = self.record("barriers", 40).of("OmpWait")
        self.assertEqual([wait["calls"] for wait in waits if wait["kind"] == BARRIER], [40, 40])

    @of_times
    def test_criticals(self):
        trace = self.record("criticals", 20)
        self.assertGreater(self.milliseconds(trace, sum(wait["wait_ticks"] for wait in trace.of("OmpWait"))), 10)

    def test_nested_tasks_cancel_forks_and_ends(self):
        for word, count in (("nested", 10), ("tasks", 10), ("cancel", 10), ("masters", 10), ("forks", 10), ("ends", 10)):
            with self.subTest(word=word):
                self.run_both(self.program, word, count, OMP_NUM_THREADS="2", OMP_CANCELLATION="true")

    def test_a_tool_of_the_user_comes_first(self):
        trace = self.record("late", 3, OMP_TOOL_LIBRARIES="/nonexistent.so")
        self.assertEqual(trace.of("OmpRegion"), [])


if __name__ == "__main__":
    unittest.main()
