#!/usr/bin/env python3
"""plumb run --timeline keeps MPI calls one by one; plumb report --format timeline shows them as viewers want them."""

import collections
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import unittest

from mpi_test import AS_ROOT, LAUNCH, MPI_PROGRAMS, MpiTest, told
from plumb_test import PLUMB

EVENT_BYTES = 40


class Timelines(MpiTest):
    def record(self, mpi, *command, ranks=2, options=("--timeline",), check=0):
        self.needs(mpi)
        done = subprocess.run([PLUMB, "run", "-o", self.run_directory, "--no-report", *options, "--",
                               shutil.which(LAUNCH[mpi][0]), *LAUNCH[mpi][1:], "-n", str(ranks), *map(str, command)],
                              capture_output=True, text=True, timeout=120, env={**os.environ, **AS_ROOT})
        if check is not None:
            self.assertEqual(done.returncode, check, done.stderr)
        return done

    def timeline(self):
        """{rank: its slices} and {rank: its name}."""
        done = subprocess.run([PLUMB, "report", self.run_directory, "--format", "timeline"], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        slices, names, rank_of = collections.defaultdict(list), {}, {}
        for event in json.loads(done.stdout)["traceEvents"]:
            if event["ph"] == "M" and event["name"] == "process_name":
                rank = rank_of[event["pid"]] = int(re.match(r"rank (\d+) ", event["args"]["name"])[1])
                names[rank] = event["args"]["name"]
            elif event["ph"] == "X":
                slices[rank_of[event["pid"]]].append(event)
        return slices, names

    def check_every_call_is_there(self, mpi):
        self.needs(mpi, "all_calls")
        done = self.record(mpi, MPI_PROGRAMS / f"all_calls.{mpi}", ranks=3)
        truth = told(done.stdout)
        slices, _ = self.timeline()
        self.assertEqual(sorted(slices), sorted(truth))
        for rank, events in slices.items():
            seen = collections.Counter(event["name"] for event in events)
            for function, counts in truth[rank].items():
                if re.search("Test|probe", function):  # those that found nothing are not kept
                    self.assertLessEqual(seen[function], counts.calls, function)
                else:
                    self.assertEqual(seen[function], counts.calls, (rank, function))
            self.assertTrue(all(event["dur"] >= 0 for event in events))
            ends = [event["ts"] + event["dur"] for event in events]
            starts = [event["ts"] for event in events]
            self.assertEqual(starts, sorted(starts))
            # One thread: no call begins before the last one has ended.
            for end, start in zip(ends, starts[1:]):
                self.assertLessEqual(end, start + 0.002, "calls of one thread overlap")
            sends = [event for event in events if event["name"] == "MPI_Send"]
            self.assertTrue(sends)
            self.assertEqual(sum(event["args"]["bytes"] for event in sends), truth[rank]["MPI_Send"].sent)
            for event in sends:
                self.assertRegex(event["args"]["line"], r"all_calls\.c:\d+ in ")
                self.assertIn(event["args"].get("rank", 0), range(3))
            self.assertTrue([event for event in sends if "rank" in event["args"]])  # some go to nobody

    def test_every_call_open_mpi(self):
        self.check_every_call_is_there("openmpi")

    def test_every_call_mpich(self):
        self.check_every_call_is_there("mpich")

    def check_the_latest_are_kept(self, mpi):
        room = 64 << 10
        example = MPI_PROGRAMS.parents[1].parent / "examples" / "small-messages" / f"wave-row-by-row.{mpi}"
        if not example.exists():
            self.skipTest(f"{example.name} is not built here")
        self.record(mpi, example, 20, options=["--timeline=64K"])
        slices, names = self.timeline()
        for rank in range(2):
            kept = len(slices[rank])
            self.assertLessEqual(kept, room // EVENT_BYTES)
            self.assertGreater(kept, room // EVENT_BYTES * 0.9)
            told_kept, told_all = map(int, re.search(r"the last (\d+) of (\d+) calls", names[rank]).groups())
            self.assertEqual(told_kept, kept)
            self.assertGreater(told_all, 20 * 576)
            self.assertEqual(slices[rank][-1]["name"], "MPI_Finalize")

    def test_the_latest_open_mpi(self):
        self.check_the_latest_are_kept("openmpi")

    def test_the_latest_mpich(self):
        self.check_the_latest_are_kept("mpich")

    def test_threads_have_rows_of_their_own(self):
        self.needs("mpich", "many_threads")
        self.record("mpich", MPI_PROGRAMS / "many_threads.mpich", options=["--timeline=4M"])
        slices, _ = self.timeline()
        self.assertGreaterEqual(len({event["tid"] for event in slices[0]}), 8)

    def test_a_killed_rank_leaves_its_calls(self):
        self.needs("mpich", "hangs")
        pids = self.scratch / "pids"
        with subprocess.Popen([PLUMB, "run", "-o", self.run_directory, "--no-report", "--timeline", "--", "timeout", "60", "mpiexec.mpich",
                               "-n", "2", "sh", "-c", f"echo $$ >>{pids}; exec {MPI_PROGRAMS / 'hangs.mpich'} missing"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, **AS_ROOT}) as run:
            ready = [run.stdout.readline() for _ in range(2)]  # both ranks have made calls
            self.assertEqual(sorted(ready), ["0 ready\n", "1 ready\n"])
            for pid in pids.read_text().split():
                with contextlib.suppress(ProcessLookupError):  # the launcher ends the others when it sees that one died
                    os.kill(int(pid), signal.SIGKILL)
            run.stdout.read()
        slices, _ = self.timeline()
        self.assertEqual(sorted(slices), [0, 1])
        self.assertTrue(all(slices[rank] for rank in slices))

    def test_without_a_timeline_it_is_said(self):
        subprocess.run([PLUMB, "run", "-o", self.run_directory, "-q", "--timeline", "--", "true"], check=True)
        done = subprocess.run([PLUMB, "report", self.run_directory, "--format", "timeline"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("plumb run --timeline", done.stderr)

    def test_wrong_sizes_are_refused(self):
        for size in ("0", "7Q", "12", "2G"):
            done = subprocess.run([PLUMB, "run", "-o", self.run_directory, f"--timeline={size}", "--", "true"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 125, size)
            self.assertIn("--timeline", done.stderr)


if __name__ == "__main__":
    unittest.main()
