"""Threads: every begin and every end is in the trace, and none of them notices."""

import unittest

from shim_test import SHIM_PROGRAMS, ShimTest


class Threads(ShimTest):
    def test_every_way_to_end(self):
        self.run_both("thread_ends")
        trace = self.trace()
        starts = {start["tid"]: start for start in trace.of("ThreadStart")}
        ends = [end["tid"] for end in trace.of("ThreadEnd")]
        self.assertEqual(len(starts), 5)
        self.assertEqual(sorted(starts), sorted(ends))
        first = starts.pop(trace.pid)
        self.assertEqual(first["start_routine"], 0)
        for start in starts.values():
            self.assertNotEqual(start["start_routine"], 0)
            self.assertEqual(start["creator_tid"], trace.pid)

    def test_names(self):
        self.run_both("thread_ends")
        trace = self.trace()
        names = trace.of("ThreadName")
        self.assertEqual([name["name"] for name in names], ["exiting"])
        self.assertIn(names[0]["tid"], [start["tid"] for start in trace.of("ThreadStart")])

    def test_start_routine_is_the_programs(self):
        self.run_both("thread_ends")
        trace = self.trace()
        main = next(module for module in trace.of("ModuleLoad") if module["flags"] & 1)
        for start in trace.of("ThreadStart"):
            if start["tid"] != trace.pid:
                self.assertTrue(main["start"] <= start["start_routine"] < main["end"])

    def test_four_thousand_at_once(self):
        self.run_both("many_threads", 4096)
        trace = self.trace()
        self.assertEqual(len({start["tid"] for start in trace.of("ThreadStart")}), 4097)
        self.assertEqual(len(trace.of("ThreadEnd")), 4097)
        self.assertEqual(trace.dropped, 0)
        self.assertLessEqual(trace.size, 8 << 20)

    def test_unwinding_passes_through(self):
        self.run_both("throws")
        self.assertEqual(len(self.trace().of("ThreadEnd")), 3)

    def test_another_preload_sees_the_same(self):
        done = self.run_both("thread_ends", LD_PRELOAD=str(SHIM_PROGRAMS / "preload_marker.so"))
        self.assertEqual(done.stderr, "preload saw 4\n")
        self.assertEqual(len(self.trace().of("ThreadStart")), 5)


if __name__ == "__main__":
    unittest.main()
