"""How often and how long threads are off their CPUs, against what the program says itself; and that they add up to its life."""

import unittest

from plumb_test import PROGRAMS, PlumbTest, of_times
from recorder_trace import recorder_trace

COUNT, MICROSECONDS = 1500, 300


class ThreadSwitches(PlumbTest):
    def recorded(self, options=()):
        done = self.record(PROGRAMS / "short_waits", COUNT, MICROSECONDS, options=["--no-report", *options], check=0)
        return [float(word) for word in done.stdout.split()], recorder_trace(self.run_directory)

    @of_times
    def test_each_wait_is_counted(self):
        (count, *waited_s), trace = self.recorded()
        switches = [record for record in trace.of("ThreadSwitches") if not record["flags"]]
        if not switches and any(evidence["source"] == "thread-switches" for evidence in trace.of("Evidence")
                                if evidence["state"] != 1):
            self.skipTest("switches are not recorded here")
        self.assertEqual(len(switches), 2)
        schedules = {schedule["tid"]: schedule for schedule in trace.of("ThreadSchedule")}
        for record, seconds in zip(sorted(switches, key=lambda record: record["tid"]), waited_s):
            self.assertEqual(record["broken_count"], 0)
            self.assertEqual(sum(record["blocked_counts"]), record["blocked_count"])
            self.assertEqual(sum(record["preempted_counts"]), record["preempted_count"])
            self.assertEqual(sum(record["blocked_times_ns"]), record["blocked_ns"])
            # Each sleep is one; loading, starting and joining make a few more. None is one whose time is over before the thread is
            # off its CPU, because a hypervisor took the CPU away meanwhile.
            self.assertGreaterEqual(record["blocked_count"], 0.99 * count)
            self.assertLess(record["blocked_count"], count * 1.1 + 50)
            self.assertGreater(record["blocked_ns"] * 1e-9, 0.8 * seconds)
            self.assertEqual(record["on_ns"] + record["blocked_ns"] + record["preempted_ns"],
                             record["last_ns"] - record["first_ns"])
            # The scheduler's own account of the same thread. It has the work of switching in it, which lies outside of the
            # records: where timers are the hypervisor's, up to 20 us each time.
            run_ns = schedules[record["tid"]]["run_ns"]
            self.assertAlmostEqual(record["on_ns"], run_ns, delta=0.1 * run_ns + 5e6 + 20e3 * record["blocked_count"])

    @of_times
    def test_the_account_names_waits_shorter_than_looks(self):
        (_, *waited_s), _ = self.recorded()
        account = self.report()["account"]
        asleep = sum(line["seconds"] for line in account["lines"] if line["wait"] == "sleep")
        no_cpu = sum(line["seconds"] for line in account["lines"] if line["class"] == "waiting-for-cpu")
        self.assertGreater(asleep + no_cpu, 0.85 * sum(waited_s))
        self.assertLess(asleep, 1.1 * sum(waited_s))
        unknown = sum(line["seconds"] for line in account["lines"] if line["class"] == "unknown")
        self.assertLess(unknown, 0.02 * account["thread_seconds"])

    def test_without_waits_nothing_is_recorded(self):
        _, trace = self.recorded(["--without", "wait"])
        self.assertEqual(trace.of("ThreadSwitches"), [])


if __name__ == "__main__":
    unittest.main()
