"""Calls and bytes are what the program counts itself, whatever the binding and the MPI library."""

import unittest

from mpi_test import LAUNCH, MpiTest, recorded, told
from plumb_test import PROGRAMS, TREE

RANKS = 3
LIBRARY = {"openmpi": 1, "mpich": 2}


class Bindings(MpiTest):
    def check(self, mpi, program):
        self.needs(mpi, program)
        done = self.launch(mpi, RANKS, program, self.scratch / "file")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.compare(done.stdout, self.traces(), RANKS)
        for trace in self.traces():
            for rank in trace.of("MpiRank"):
                self.assertEqual(rank["library"], LIBRARY[mpi])
                self.assertEqual(rank["size"], RANKS)
                self.assertEqual(rank["unmatched"], 0)

    def test_c_openmpi(self):
        self.check("openmpi", "all_calls")

    def test_c_mpich(self):
        self.check("mpich", "all_calls")

    def test_mpif_h_openmpi(self):
        self.check("openmpi", "all_calls_mpifh")

    def test_mpif_h_mpich(self):
        self.check("mpich", "all_calls_mpifh")

    def test_use_mpi_openmpi(self):
        self.check("openmpi", "all_calls_mpi")

    def test_use_mpi_mpich(self):
        self.check("mpich", "all_calls_mpi")

    def test_mpi_f08_openmpi(self):
        self.check("openmpi", "all_calls_f08")

    def test_mpi_f08_mpich(self):
        self.check("mpich", "all_calls_f08")


class Threads(MpiTest):
    """Eight threads of a rank inside MPI at the same time."""

    def check(self, mpi):
        self.needs(mpi, "many_threads")
        done = self.launch(mpi, 2, "many_threads")
        self.assertEqual(done.returncode, 0, done.stderr)
        if "no threads" in done.stdout:
            self.skipTest("the library has no MPI_THREAD_MULTIPLE")
        seen = self.traces()
        truth = done.stdout
        # The program counts the threads' calls only.
        for trace in seen:
            trace.records = [record for record in trace.records
                             if record["type"] != "MpiSite" or any(record["call"] in line.split()
                                                                   for line in truth.splitlines())]
        self.compare(truth, seen, 2)

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


class Sessions(MpiTest):
    def check(self, mpi):
        self.needs(mpi, "sessions")
        done = self.launch(mpi, 2, "sessions")
        self.assertEqual(done.returncode, 0, done.stderr)
        if "no sessions" in done.stdout:
            self.skipTest("the library has no sessions")
        self.compare(done.stdout, self.traces(), 2)
        for trace in self.traces():
            [rank] = trace.of("MpiRank")
            self.assertEqual((rank["size"], rank["flags"] & 2, rank["finalize_end_ns"] > 0), (2, 2, True))

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


class WrongCalls(MpiTest):
    """What MPI rejects, it rejects with the same code; nothing else changes."""

    def check(self, mpi):
        self.needs(mpi, "wrong_calls")
        bare, shimmed = (self.launch(mpi, 1, "wrong_calls", shimmed=shimmed) for shimmed in (False, True))
        self.assertEqual(bare.returncode, shimmed.returncode)
        lines = [[line if mpi == "openmpi" else line.split("code")[0] + line.split(",")[-1]
                  for line in done.stdout.splitlines()] for done in (bare, shimmed)] # MPICH numbers its errors anew
        self.assertEqual(*lines)
        self.assertIn("finalize: 0", bare.stdout)
        failed = sum(site["failed"] for trace in self.traces() for site in trace.of("MpiSite"))
        self.assertGreaterEqual(failed, 9)

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


class OtherTools(MpiTest):
    """Another tool that wraps MPI sees the same calls, in front of the shim and behind it."""

    TOOL = PROGRAMS / "mpi" / "libother_mpi_tool.so"

    def lines(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(line for line in done.stdout.splitlines() if line.startswith("other tool"))

    def check(self, mpi, program):
        self.needs(mpi, program)
        alone = self.lines(self.launch(mpi, 2, program, shimmed=False, LD_PRELOAD=self.TOOL))
        self.assertEqual(len(alone), 2)
        done = self.launch(mpi, 2, program, LD_PRELOAD=str(self.TOOL)) # behind
        self.assertEqual(self.lines(done), alone)
        self.compare("\n".join(line for line in done.stdout.splitlines() if not line.startswith("other")),
                     self.traces(), 2)
        environment = self.shimmed_environment()
        done = self.launch(mpi, 2, program, shimmed=False, PLUMB_RUN=environment["PLUMB_RUN"],
                           LD_PRELOAD=f"{self.TOOL}:{environment['LD_PRELOAD']}") # in front
        self.assertEqual(self.lines(done), alone)

    def test_c_openmpi(self):
        self.check("openmpi", "all_calls")

    def test_c_mpich(self):
        self.check("mpich", "all_calls")

    def test_fortran_openmpi(self):
        self.check("openmpi", "all_calls_mpifh")

    def test_fortran_mpich(self):
        self.check("mpich", "all_calls_mpifh")


class OtherLibraries(MpiTest):
    def test_standard_abi(self):
        done = self.run_both(PROGRAMS / "mpi" / "abi" / "abi_program")
        self.assertEqual(done.returncode, 0)
        self.compare(done.stdout, self.traces(), 1)
        [rank] = self.trace().of("MpiRank")
        self.assertEqual((rank["library"], rank["library_version"], rank["thread_level"], rank["unmatched"]),
                         (3, "test library of the standard ABI", 3, 0))

    def test_recording_is_nothing_for_the_alignment_trap(self):
        """Calls enter the shim with the trap set: 20,000 of them must not add to what trapped in the shim and the C library."""
        totals = []
        for rounds in (0, 10000):
            self.run_both(PROGRAMS / "mpi" / "abi" / "abi_program", rounds, PLUMB_ALIGN="exact")
            trace = self.trace()
            [trap] = [entry for entry in trace.of("Evidence") if entry["source"] == "alignment-trap"]
            if trap["state"] == 3:
                self.skipTest(trap["why"])
            totals.append(sum(entry["excluded_hits"] for entry in trace.of("AlignTotals")))
            trace.path.unlink()
        self.assertLess(totals[1] - totals[0], 100)

    def test_unknown(self):
        done = self.run_both(PROGRAMS / "mpi" / "abi" / "unknown_mpi_program")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.trace().of("MpiSite"), [])
        self.assertIn(2, [entry["state"] for entry in self.trace().of("Evidence") if entry["source"] == "mpi"])


class AbsentFunctions(MpiTest):
    """The shim has names for everything; whoever asks by weak symbols sees what there is without it."""

    def test_no_mpi(self):
        done = self.run_both(PROGRAMS / "mpi" / "asks_for_mpi")
        self.assertEqual(done.stdout, "done\n")
        self.assertEqual(self.trace().of("MpiRank"), [])

    def check(self, mpi):
        self.needs(mpi, "asks_for_functions")
        bare, shimmed = (self.launch(mpi, 1, "asks_for_functions", shimmed=shimmed) for shimmed in (False, True))
        self.assertEqual((bare.returncode, bare.stdout), (shimmed.returncode, shimmed.stdout))
        self.assertIn("MPI_Mprobe 1", bare.stdout)
        self.assertIn("MPI_Buffer_iflush 0", bare.stdout)

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


class Python(MpiTest):
    """mpi4py: the MPI library comes with a module that is opened privately."""

    SCRIPT = TREE / "tests" / "programs" / "mpi" / "all_calls.py"

    def check(self, mpi):
        self.needs(mpi)
        bare = self.launch(mpi, 2, "/usr/bin/python3", self.SCRIPT, shimmed=False)
        if len(told(bare.stdout)) != 2:
            self.skipTest(f"/usr/bin/python3 has no mpi4py for {LAUNCH[mpi][0]}")
        done = self.launch(mpi, 2, "/usr/bin/python3", self.SCRIPT)
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())),
                         (bare.returncode, sorted(bare.stdout.splitlines())))
        # mpi4py takes the forms with large counts where the library has them.
        seen = {rank: {name.removesuffix("_c"): counts for name, counts in calls.items()}
                for rank, calls in recorded(self.traces()).items()}
        for rank, calls in told(done.stdout).items():
            self.assertEqual({name: seen[rank].get(name) for name in calls}, calls, f"rank {rank}")

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


if __name__ == "__main__":
    unittest.main()
