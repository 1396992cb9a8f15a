#!/usr/bin/env python3
"""Which call each rank of a hung job is in, and why: of jobs that hang by construction, while they hang and after SIGKILL."""

import os
import shutil
import signal
import struct
import subprocess
import time
import unittest

from mpi_test import AS_ROOT, LAUNCH, MPI_PROGRAMS, MpiTest
from trace_reader import Trace

RANKS = 3
PATIENCE_S = 60 # for the programs to get where they hang, on a busy machine
SOURCE = "hangs.c"


def line_of(marker):
    source = os.path.join(os.path.dirname(__file__), "..", "programs", "mpi", SOURCE)
    with open(source, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if line.rstrip().endswith("// " + marker))


class Hanging:
    """A job that hangs; ended with all of its ranks when the test is over."""

    def __init__(self, test, mpi, way):
        environment = test.shimmed_environment()
        settings = [f"{name}={environment[name]}" for name in ("LD_PRELOAD", "PLUMB_RUN")]
        program = test.program(mpi)
        self.test, self.folder = test, test.run_directory
        self.launcher = subprocess.Popen([shutil.which(LAUNCH[mpi][0]), *LAUNCH[mpi][1:], "-n", str(RANKS), "env", *settings,
                                          program, way], env={**os.environ, **AS_ROOT}, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        test.addCleanup(self.end)

    def inside(self):
        """{rank: (pid, the call it is inside of, or None)} as the traces say now."""
        ranks = {}
        for path in self.folder.glob("process-*.plumb"):
            try:
                trace = Trace(path)
            except (ValueError, KeyError, struct.error): # still being written
                continue
            for rank in trace.of("MpiRank"):
                calls = [entry["call"] for entry in trace.of("MpiInside") if entry["begin_ticks"]]
                ranks[rank["rank"]] = (trace.pid, calls[0] if calls else None)
        return ranks

    def wait_for(self, calls):
        """Until every rank is inside of the call that is expected of it, and stays there."""
        until, agreed = time.monotonic() + PATIENCE_S, 0
        while agreed < 3:
            now = {rank: call for rank, (_, call) in self.inside().items()}
            agreed = agreed + 1 if now == calls else 0
            self.test.assertIsNone(self.launcher.poll(), "the job ended instead of hanging")
            self.test.assertLess(time.monotonic(), until, now)
            time.sleep(0.05)

    def kill(self):
        for pid, _ in self.inside().values():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.launcher.wait(PATIENCE_S)

    def end(self):
        if self.launcher.poll() is None:
            self.kill()


class Pending(MpiTest):
    def program(self, mpi):
        self.needs(mpi, "hangs")
        return str(MPI_PROGRAMS / f"hangs.{mpi}")

    def pending(self):
        return [finding for finding in self.report()["findings"] if finding["id"] == "mpi-pending"]

    def hang(self, mpi, way, calls):
        """The findings while it hangs, and after it was killed."""
        job = Hanging(self, mpi, way)
        job.wait_for(calls)
        yield self.pending()
        job.kill()
        yield self.pending()

    def one(self, findings):
        self.assertEqual(len(findings), 1, [finding["title"] for finding in findings])
        return findings[0]

    def ring(self, mpi, way, call):
        for findings in self.hang(mpi, way, {rank: call for rank in range(RANKS)}):
            finding = self.one(findings)
            self.assertIn("Deadlock", finding["title"])
            self.assertEqual(finding["evidence"]["ring"], [0, 1, 2])
            self.assertTrue(finding["evidence"]["proven"])
            self.assertEqual(finding["severity"], "high")
            self.assertEqual((os.path.basename(finding["where"][0]["file"]), finding["where"][0]["line"]), (SOURCE, line_of(way)))
            self.assertTrue(any("from rank 1 with tag 17" in text for text in finding["evidence"]["ranks"]), finding["evidence"])

    def missing(self, mpi):
        calls = {0: "MPI_Allreduce", 1: "MPI_Allreduce", 2: None}
        for findings in self.hang(mpi, "missing", calls):
            finding = self.one(findings)
            self.assertEqual(finding["evidence"]["waiting_ranks"], [0, 1])
            self.assertEqual(finding["evidence"]["missing_ranks"], [2])
            self.assertIn("MPI_Allreduce", finding["title"])
            self.assertIn((SOURCE, line_of("missing")), [(os.path.basename(place["file"]), place["line"])
                                                         for place in finding["where"]])
            self.assertTrue(any("on backwards" in text for text in finding["evidence"]["ranks"]), finding["evidence"])

    def tag(self, mpi):
        job = Hanging(self, mpi, "tag")
        until = time.monotonic() + PATIENCE_S
        while [job.inside().get(rank, (0, None))[1] for rank in (0, 1)] != ["MPI_Recv", "MPI_Recv"]:
            self.assertLess(time.monotonic(), until, job.inside())
            time.sleep(0.05)
        job.kill()
        finding = self.one([finding for finding in self.pending() if "sent_tag" in finding["evidence"]])
        self.assertEqual((finding["subject"]["name"], finding["evidence"]["sender_rank"], finding["evidence"]["sent_tag"]),
                         (1, 0, 6))
        self.assertIn("with tag 5", finding["title"])
        places = [(os.path.basename(place["file"]), place["line"]) for place in finding["where"]]
        self.assertEqual(places[0], (SOURCE, line_of("right tag")))
        self.assertIn((SOURCE, line_of("wrong tag")), places)

    def nothing(self, mpi):
        done = self.launch(mpi, RANKS, self.program(mpi), "none")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.pending(), [])

    def all_ways(self, mpi):
        self.needs(mpi, "hangs")
        for name, way in (("ring", lambda: self.ring(mpi, "ring", "MPI_Recv")),
                          ("ring of requests", lambda: self.ring(mpi, "pending_ring", "MPI_Wait")),
                          ("missing member", lambda: self.missing(mpi)), ("wrong tag", lambda: self.tag(mpi)),
                          ("nothing", lambda: self.nothing(mpi))):
            with self.subTest(name):
                self.run_directory = self.scratch / name.replace(" ", "-")
                self.run_directory.mkdir(mode=0o700)
                way()

    def test_openmpi(self):
        self.all_ways("openmpi")

    def test_mpich(self):
        self.all_ways("mpich")


if __name__ == "__main__":
    unittest.main()
