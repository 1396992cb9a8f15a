"""Where the time of programs that wait goes, against what the programs say themselves."""

import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest, of_times
from recorder_trace import recorder_trace

MILLISECONDS = 1200
CLOCK_NANOSLEEP = 230  # the number of the system call (x86-64)
WAITS_FOR_PEER = 1
TIMES = {"lock": "want_table", "condition": "await_ready", "pipe": "read_byte", "sleep": "poll_asleep",
         "file-sync": "sync_now", "read-lock": "want_map"}
ARGUMENTS = {"file-sync": "fsync"}


class TimeAccount(PlumbTest):
    def account(self, kind):
        done = self.record(PROGRAMS / "waits", ARGUMENTS.get(kind, kind), MILLISECONDS, options=["--no-report"], check=0,
                           cwd=self.scratch)
        report = self.report()
        account = report["account"]
        self.assertTrue(account["blocked_threads_seen"])
        total = sum(line["seconds"] for line in account["lines"])
        self.assertAlmostEqual(total + account["idle_seconds"] + account["handed_over_seconds"],
                               account["thread_seconds"], delta=1e-6 * account["thread_seconds"])
        unknown = sum(line["seconds"] for line in account["lines"] if line["class"] == "unknown")
        self.assertLess(unknown, 0.05 * account["thread_seconds"])
        return float(done.stdout.split()[1]), account

    def holders(self):
        """(what the holder was blocked in, whether it is another thread) of each record of a lock's holder."""
        records = recorder_trace(self.run_directory).of("LockHolder")
        return [(record["holder_call"], record["holder"] != record["tid"]) for record in records]

    def check_wall(self, account, wait, function):
        """The wall time adds up, and most of it depended on that wait in that function."""
        self.assertAlmostEqual(sum(line["seconds"] for line in account["wall"]), account["wall_seconds"],
                               delta=1e-6 * account["wall_seconds"])
        lines = [line for line in account["wall"] if line["wait"] == wait]
        self.assertEqual(len(lines), 1, account["wall"])
        self.assertGreater(lines[0]["fraction"], 0.6, account["wall"])
        self.assertIn(function, lines[0]["where"][0]["function"])

    def check(self, kind, wait):
        waited, account = self.account(kind)
        lines = [line for line in account["lines"] if line["wait"] == wait]
        self.assertEqual(len(lines), 1, account)
        # By the program's clock a wait ends when the thread has got a CPU again, and a call also takes CPU time itself.
        around = sum(line["seconds"] for line in account["lines"] if line["class"] in ("waiting-for-cpu", "kernel"))
        self.assertLess(lines[0]["seconds"], 1.15 * waited + 0.02)
        self.assertGreater(lines[0]["seconds"] + around, 0.85 * waited - 0.02)
        place = lines[0]["where"][0]
        self.assertIn(TIMES[kind], place["function"])
        self.assertTrue(place["file"].endswith("waits.cpp"), place)
        return account

    @of_times
    def test_mutex(self):
        account = self.check("lock", "lock")
        self.assertIn((CLOCK_NANOSLEEP, True), self.holders())
        self.check_wall(account, "sleep", "hold_table")  # who waits for the lock waits for its holder
        found = [finding for finding in self.report()["findings"] if finding["id"] == "lock-wait"]
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0]["subject"]["name"].endswith("table_lock"), found[0]["subject"])
        self.assertIn("hold_table", found[0]["where"][0]["function"])

    @of_times
    def test_mutex_where_a_filter_forbids_reading_memory(self):
        """As in many containers: the holder is found all the same."""
        done = subprocess.run([PROGRAMS / "refuse", "memory", PLUMB, "run", "-o", self.run_directory, "--no-report", "--",
                               PROGRAMS / "waits", "lock", str(MILLISECONDS)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = [finding for finding in self.report()["findings"] if finding["id"] == "lock-wait"]
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0]["subject"]["name"].endswith("table_lock"), found[0]["subject"])
        self.assertIn("hold_table", found[0]["where"][0]["function"])

    @of_times
    def test_what_holders_do_on_a_busy_machine(self):
        """Holders that wait for a CPU give no samples: what they computed before they took the lock is no part of it."""
        busy = [subprocess.Popen([PROGRAMS / "burn", "30"], stdout=subprocess.DEVNULL) for _ in range(2)]
        try:
            self.record(PROGRAMS / "saves_in_turn", 4, 150, options=["--no-report"], check=0)
        finally:
            for other in busy:
                other.kill()
                other.wait()
        self.assertNotEqual(self.holders(), [])
        found = [finding for finding in self.report()["findings"] if finding["id"] == "lock-wait"]
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0]["subject"]["name"].endswith("journal_lock"), found[0]["subject"])
        self.assertIn("save_inside", found[0]["where"][0]["function"])
        self.assertNotIn("compute_outside", [place["function"].split("::")[-1].split("(")[0] for place in found[0]["where"]])

    @of_times
    def test_reader_writer_lock(self):
        self.check("read-lock", "lock")
        self.assertIn((CLOCK_NANOSLEEP, True), self.holders())

    @of_times
    def test_condition(self):
        self.check("condition", "condition")
        self.assertEqual(self.holders(), [])  # nobody holds what is waited for

    @of_times
    def test_pipe(self):
        account = self.check("pipe", "pipe")
        self.check_wall(account, "sleep", "pipe_from_child")  # the child's, which writes late
        trace = recorder_trace(self.run_directory)
        first, *others = [seen[0] for seen in trace.processes()]
        peers = {(waited["pid"], waited["peer_pid"]) for waited in trace.of("WaitedFor") if waited["relation"] == WAITS_FOR_PEER}
        self.assertEqual(peers, {(first, others[-1])})
        self.assertNotIn("pipe-wait", [finding["id"] for finding in self.report()["findings"]])  # nobody waits back

    @of_times
    def test_sleep(self):
        account = self.check("sleep", "sleep")
        self.check_wall(account, "sleep", "poll_asleep")
        self.assertIn("sleep-poll", [finding["id"] for finding in self.report()["findings"]])

    @of_times
    def test_fsync(self):
        self.check("file-sync", "file-sync")

    def test_computing(self):
        self.record(PROGRAMS / "burn", 1, options=["--no-report"], check=0)
        account = self.report()["account"]
        blocked = sum(line["seconds"] for line in account["lines"] if line["class"] == "blocked")
        self.assertLess(blocked, 0.1 * account["thread_seconds"])
        wall = [line["class"] for line in account["wall"] if line["class"] != "waiting-for-cpu"]  # others may take its CPU
        self.assertEqual(wall[0], "computing")

    def test_without_looks(self):
        """Where nobody looks, the time off the CPU is unknown, and no cause is made up."""
        self.record(PROGRAMS / "waits", "sleep", 600, options=["--no-report", "--without", "wait"], check=0)
        account = self.report()["account"]
        self.assertFalse(account["blocked_threads_seen"])
        self.assertEqual([line for line in account["lines"] if line["class"] == "blocked"], [])
        self.assertGreater(sum(line["seconds"] for line in account["lines"] if line["class"] == "unknown"), 0.4)


if __name__ == "__main__":
    unittest.main()
