"""What could end the alignment trap's watch before its time: exceptions, missing ticks, forks, flags."""

import unittest

from plumb_test import PROGRAMS
from shim_test import ShimTest
from test_align_trap import functions_of

ALIGN = PROGRAMS / "align"
OK, LIMITED, MISSING = 1, 2, 3
LEAST_WINDOW = 5  # hits, where traps are slow: kLeastCounted of preload/record/align/trap/find_window.cpp


class KeepsWatching(ShimTest):
    def evidence(self, trace):
        found = {entry["source"]: entry for entry in trace.of("Evidence")}
        entry = found.get("alignment-trap")
        if entry and entry["state"] == MISSING and "do not trap" in (entry["why"] or ""):
            self.skipTest(entry["why"])
        return found

    def hits_by_function(self, trace, program):
        main = next(module for module in trace.of("ModuleLoad") if module["flags"] & 1)
        hits = {}
        for site in trace.of("AlignSite"):
            address = site["address"] - main["start"] + main["file_offset"]
            for start, end, name in functions_of(program):
                if start <= address < end:
                    hits[name] = hits.get(name, 0) + sum(
                        count["hits"] for count in trace.of("AlignCount") if count["site"] == site["id"])
        return hits

    def test_an_exception_out_of_an_alternate_stack(self):
        program, n = ALIGN / "align_throws", 5000
        self.run_both(program, n, PLUMB_ALIGN="exact")
        trace = self.trace()
        evidence = self.evidence(trace)
        self.assertEqual(self.hits_by_function(trace, program).get("load_after"), n)
        self.assertEqual(evidence["alignment-trap-gap"]["state"], LIMITED)

    def late(self, *around, **variables):
        program = ALIGN / "align_late"
        self.run_both(*around, program, PLUMB_ALIGN="find", **variables)
        trace = self.trace(program.name)
        evidence = self.evidence(trace)
        hits = self.hits_by_function(trace, program)
        return evidence["alignment-trap"], hits.get("early_load", 0), hits.get("late_load", 0)

    def test_without_perf_events_windows_go_on(self):
        evidence, _, late = self.late(PROGRAMS / "refuse", "perf")
        self.assertGreaterEqual(late, LEAST_WINDOW)
        self.assertEqual(evidence["state"], OK)

    # Where so few signals may be pending, none is taken for ticks.

    def test_without_ticks_the_sampling_timer_begins_windows(self):
        evidence, early, late = self.late("/usr/bin/prlimit", "--sigpending=500", PLUMB_TIMER_HZ="100")
        self.assertGreaterEqual(min(early, late), LEAST_WINDOW)
        self.assertEqual(evidence["state"], LIMITED)
        self.assertIn("sampling timer", evidence["why"])

    def test_without_ticks_and_timer_the_first_window_is_the_only_one(self):
        evidence, early, late = self.late("/usr/bin/prlimit", "--sigpending=500")
        self.assertGreaterEqual(early, LEAST_WINDOW)
        self.assertEqual(late, 0)
        self.assertEqual(evidence["state"], LIMITED)
        self.assertIn("only the first", evidence["why"])

    def test_short_threads_are_not_spent_on_windows(self):
        program, n = ALIGN / "align_short_threads", 3000
        self.run_both(program, n, PLUMB_ALIGN="find")
        trace = self.trace()
        self.evidence(trace)
        self.assertGreaterEqual(self.hits_by_function(trace, program).get("load_in_thread", 0), LEAST_WINDOW)
        totals = trace.of("AlignTotals")
        # Of the process's CPU time at most 1 % and a window; what the threads' own clocks show is less than that.
        cpu_ns = sum(thread["cpu_time_ns"] for thread in trace.of("ThreadEnd"))
        trap_ns = [thread["trap_ns"] for thread in totals]
        self.assertLessEqual(sum(trap_ns), 0.05 * cpu_ns + 4 * max(trap_ns))
        self.assertGreater(sum(1 for ns in trap_ns if ns == 0), n / 2)

    def test_forked_children_can_be_read_by_themselves(self):
        program, n = ALIGN / "align_forks", 20_000
        self.run_both(program, n, PLUMB_ALIGN="exact")
        traces = self.traces()
        self.assertEqual(len(traces), 2)
        self.evidence(traces[0])
        for trace in traces:
            self.assertEqual(self.hits_by_function(trace, program)["load_4"], 2 * n)
            sites = {site["address"] for site in trace.of("AlignSite")}
            self.assertTrue({code["address"] for code in trace.of("AlignCode")} & sites, trace.path.name)

    def test_programs_that_handle_the_flags_are_not_watched_and_it_is_said(self):
        torture = PROGRAMS / "torture"
        for name, way, state in (("own_flag_popf", "read", MISSING), ("own_flag", "read", 1)):
            self.run_both(torture / name, way, PLUMB_ALIGN="find")
            trace = self.trace()
            evidence = self.evidence(trace)["alignment-trap"]
            self.assertEqual(evidence["state"], state, evidence)
            if state == MISSING:
                self.assertIn(name, evidence["why"])
            trace.path.unlink()

    def test_a_program_that_sets_the_flag_in_a_context_is_watched_until_then(self):
        self.run_both(PROGRAMS / "torture" / "own_flag", "context", PLUMB_ALIGN="exact")
        trace = self.trace()
        evidence = self.evidence(trace)
        self.assertEqual(sum(count["hits"] for count in trace.of("AlignCount")), 200)
        self.assertIn("set the alignment flag itself", evidence["alignment-trap-end"]["why"])


if __name__ == "__main__":
    unittest.main()
