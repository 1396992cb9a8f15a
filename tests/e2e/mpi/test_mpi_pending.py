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
from plumb_test import TREE
from trace_reader import Trace

RANKS = 3
PATIENCE_S = 60 # for the programs to get where they hang, on a busy machine
BINDINGS = {"": "hangs.c", "_mpifh": "hangs.F90", "_mpi": "hangs.F90", "_f08": "hangs.F90"} # of the program hangs: its source


def line_of(source, marker):
    path = str(TREE / "tests" / "programs" / "mpi" / source)
    comment = "! " if source.endswith("F90") else "// "
    with open(path, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if line.rstrip().endswith(comment + marker))


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
    binding = "" # of the program

    def program(self, mpi):
        self.needs(mpi, f"hangs{self.binding}")
        return str(MPI_PROGRAMS / f"hangs{self.binding}.{mpi}")

    def places(self, finding):
        return [(os.path.basename(place["file"]), place["line"]) for place in finding["where"]]

    def line(self, marker):
        """The place in the source of the program."""
        return BINDINGS[self.binding], line_of(BINDINGS[self.binding], marker)

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
            if self.binding: # gfortran gives some of these calls the line of a declaration
                self.assertIn(way, finding["where"][0]["function"])
            else:
                self.assertEqual(self.places(finding)[0], self.line(way))
            self.assertTrue(any("from rank 1 with tag 17" in text for text in finding["evidence"]["ranks"]), finding["evidence"])

    def missing(self, mpi, way="missing", call="MPI_Allreduce", on="backwards"):
        for findings in self.hang(mpi, way, {0: call, 1: call, 2: None}):
            finding = self.one(findings)
            self.assertEqual(finding["evidence"]["waiting_ranks"], [0, 1])
            self.assertEqual(finding["evidence"]["missing_ranks"], [2])
            self.assertIn(call, finding["title"])
            self.assertIn(self.line(way), self.places(finding))
            self.assertTrue(any(f"on {on}" in text for text in finding["evidence"]["ranks"]), finding["evidence"])

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
        self.assertEqual(self.places(finding)[0], self.line("right tag"))
        self.assertIn(self.line("wrong tag"), self.places(finding))

    def abort(self, mpi):
        """Who aborted is the cause, and where; the others are said to have waited."""
        done = self.launch(mpi, RANKS, self.program(mpi), "abort")
        self.assertNotEqual(done.returncode, 0)
        finding = self.one(self.pending())
        self.assertIn("Rank 2 called MPI_Abort", finding["title"])
        self.assertEqual((finding["subject"]["kind"], finding["subject"]["name"]), ("rank", 2))
        self.assertEqual(self.places(finding)[0], self.line("abort"))
        self.assertEqual(finding["evidence"]["aborting_ranks"], [2])
        told = "\n".join(finding["evidence"]["ranks"])
        for rank in (0, 1):
            self.assertRegex(told, f"rank {rank}: in MPI_Allreduce at .*:{self.line('aborted')[1]}")

    def nothing(self, mpi):
        done = self.launch(mpi, RANKS, self.program(mpi), "none")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.pending(), [])

    def all_ways(self, mpi, binding=""):
        self.binding = binding
        self.program(mpi)
        ways = {"ring": lambda: self.ring(mpi, "ring", "MPI_Recv"),
                "ring of requests": lambda: self.ring(mpi, "pending_ring", "MPI_Wait"),
                "missing member": lambda: self.missing(mpi), "abort": lambda: self.abort(mpi)}
        if not binding:
            ways |= {"fence": lambda: self.missing(mpi, "fence", "MPI_Win_fence", "a window of 3"),
                     "wrong tag": lambda: self.tag(mpi), "nothing": lambda: self.nothing(mpi)}
        for name, way in ways.items():
            with self.subTest(name):
                self.run_directory = self.scratch / name.replace(" ", "-")
                self.run_directory.mkdir(mode=0o700)
                way()

    def test_openmpi(self):
        self.all_ways("openmpi")

    def test_mpich(self):
        self.all_ways("mpich")

    def test_mpif_h_openmpi(self):
        self.all_ways("openmpi", "_mpifh")

    def test_mpif_h_mpich(self):
        self.all_ways("mpich", "_mpifh")

    def test_use_mpi_openmpi(self):
        self.all_ways("openmpi", "_mpi")

    def test_use_mpi_mpich(self):
        self.all_ways("mpich", "_mpi")

    def test_mpi_f08_openmpi(self):
        self.all_ways("openmpi", "_f08")

    def test_mpi_f08_mpich(self):
        self.all_ways("mpich", "_f08")


if __name__ == "__main__":
    unittest.main()
