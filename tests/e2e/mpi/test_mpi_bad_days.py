"""MPI jobs that are unusual, or of which a part is missing: they behave as without the tool, and what is recorded is true. Jobs
that end badly are in test_mpi_record.py, hung ones in test_mpi_pending.py, spawned ones and threads there and in
test_mpi_bindings.py."""

import os
import shutil
import unittest

from mpi_test import AS_ROOT, LAUNCH, MPI_PROGRAMS, MpiTest, recorded
from test_mpi_record import collectives, ranks_of

RANKS = 3
BINDINGS = ("", "_mpifh", "_mpi", "_f08")


def special_lines(rank):
    """What special_arguments prints, whatever the language and the library."""
    previous, everybody = (rank + RANKS - 1) % RANKS, range(RANKS)
    lines = {"allreduce": [6, 60], "scatter": [-1 if rank == 0 else 100 + rank], "allgather": [1, 2, 3],
             "alltoall": [10 * other + rank for other in everybody], "scan": [sum(range(1, rank + 2))],
             "reduce_scatter_block": [6 * (rank + 1)], "iallreduce": [5], "bottom": [11, 22, 3, 5],
             "column": [10 * previous + i for i in (1, 2, 3, 4)], "status": [previous, 7, 3], "statuses": [1, 3],
             "ignored": [previous, previous], "rejected": [1, 1]}
    lines.update({0: {"gather": [1, 2, 3]}, 1: {"reduce": [3]}, RANKS - 1: {"from bottom": [12, 23]}}.get(rank, {}))
    return [f"{rank} {name} {' '.join(map(str, numbers))}" for name, numbers in lines.items()]


class SpecialArguments(MpiTest):
    """MPI_IN_PLACE, MPI_BOTTOM, MPI_STATUS(ES)_IGNORE, derived datatypes, calls that MPI rejects and those of PMPI_: the program
    gets what it must, and the counts are right, in each binding."""

    def check(self, mpi):
        self.needs(mpi)
        for binding in BINDINGS:
            program = f"special_arguments{binding}"
            if not (MPI_PROGRAMS / f"{program}.{mpi}").exists():
                continue
            with self.subTest(program):
                self.run_directory = self.scratch / program
                self.run_directory.mkdir(mode=0o700)
                done = self.launch(mpi, RANKS, program)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(sorted(" ".join(line.split()) for line in done.stdout.splitlines() if line.strip()),
                                 sorted(line for rank in range(RANKS) for line in special_lines(rank)))
                seen = recorded(self.traces())
                self.assertEqual(sorted(seen), list(range(RANKS)))
                # Three more of PMPI_Barrier are not seen, but where they call MPI_Barrier themselves: those of MPICH's older
                # Fortran bindings do, so that tools written in C see Fortran's calls.
                barriers = 4 if mpi == "mpich" and binding in ("_mpifh", "_mpi") else 1
                for rank, calls in seen.items():
                    self.assertEqual(tuple(calls["MPI_Barrier"]), (barriers, 0, 0))
                    self.assertEqual(tuple(calls["MPI_Bcast"]), (2, 24, 0) if rank == 0 else (2, 0, 24))
                    self.assertEqual(tuple(calls["MPI_Allreduce"]), (1, 8, 8))
                    self.assertEqual(tuple(calls["MPI_Sendrecv"]), (1, 32, 32))
                failed = [sum(site["failed"] for site in trace.of("MpiSite")) for trace in self.traces()]
                self.assertEqual(failed, [2] * RANKS)
        self.assertTrue((self.scratch / "special_arguments").exists(), "not even the program in C is built")

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


class Unusual(MpiTest):
    def parts(self, mpi, *parts):
        """The launcher's command for [(ranks, program and arguments, is it watched)], each with the environment that it needs."""
        command = [shutil.which(LAUNCH[mpi][0]), *LAUNCH[mpi][1:]]
        environment = self.shimmed_environment()
        settings = [f"{name}={environment[name]}" for name in ("LD_PRELOAD", "PLUMB_RUN")]
        for number, (ranks, program, is_watched) in enumerate(parts):
            command += [":"] * (number > 0) + ["-n", ranks, "env", *(settings if is_watched else []), *program]
        return self.finish(command, {**os.environ, **AS_ROOT})

    def each(self, check):
        for mpi in LAUNCH:
            if not shutil.which(LAUNCH[mpi][0]) or not (MPI_PROGRAMS / f"unusual.{mpi}").exists():
                continue
            with self.subTest(mpi):
                self.run_directory = self.scratch / mpi
                self.run_directory.mkdir(mode=0o700)
                check(mpi, MPI_PROGRAMS / f"unusual.{mpi}")

    def lines(self, done):
        self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(done.stdout.splitlines())

    def test_no_call_at_all(self):
        def check(_, program):
            done = self.run_both(program, "nothing")
            self.assertEqual((done.returncode, done.stdout), (4, "nothing\n"))
            self.assertEqual(self.trace().of("MpiRank") + self.trace().of("MpiSite"), [])
            report = self.report()
            self.assertEqual((report["mpi_jobs"], report["findings"]), ([], []))
        self.each(check)

    def test_collectives_in_orders_of_their_own(self):
        def check(mpi, _):
            bare = self.launch(mpi, 4, "unusual", "orders", shimmed=False)
            self.assertEqual(self.lines(self.launch(mpi, 4, "unusual", "orders")), self.lines(bare))
            epochs = collectives(self.traces())
            for (comm, sequence), members in epochs.items():
                if comm[2] > 1:
                    self.assertEqual(len(members), len(set(members)), f"{comm} {sequence}: {members}")
                    self.assertEqual(len(members), comm[2], f"{comm} {sequence}: {members}")
            # By size: two communicators of parity and two of halves, 20 reductions each; 20 barriers of the halves and of the odd
            # ranks; 20 reductions of all, two splits and the copy.
            pairs = sum(1 for comm, _ in epochs if comm[2] == 2)
            self.assertEqual(pairs, 20 * (2 + 2) + 20 * 2 + 20)
            [job] = self.report()["mpi_jobs"]
            self.assertEqual(job["collectives"]["incomplete"], 0)
        self.each(check)

    def test_ranks_of_different_programs(self):
        def check(mpi, program):
            other = self.scratch / f"other-{mpi}"
            shutil.copy(program, other)
            truth = sorted(f"{rank} meet 10 {(rank + 3) % 4 + 1}" for rank in range(4))
            self.assertEqual(self.lines(self.parts(mpi, (1, [program, "meet"], True), (3, [other, "meet"], True))), truth)
            ranks = ranks_of(self.traces())
            self.assertEqual([ranks[rank].program for rank in range(4)], [program.name] + [other.name] * 3)
            [job] = self.report()["mpi_jobs"]
            self.assertEqual((job["size"], len(job["ranks"]), job["messages"]["unmatched_ends"]), (4, 4, 0))
        self.each(check)

    def test_some_ranks_are_not_watched(self):
        def check(mpi, program):
            truth = sorted(f"{rank} meet 6 {(rank + 2) % 3 + 1}" for rank in range(3))
            self.assertEqual(self.lines(self.parts(mpi, (2, [program, "meet"], True), (1, [program, "meet"], False))), truth)
            self.assertEqual(sorted(ranks_of(self.traces())), [0, 1])
            document = self.report()
            [job] = document["mpi_jobs"]
            self.assertEqual((job["size"], [rank["rank"] for rank in job["ranks"]]), (3, [0, 1]))
            # The three reductions and the gathering of lines are laid side by side for the two that were recorded, and the message
            # between them is matched.
            self.assertEqual((job["collectives"]["compared"], job["messages"]["matched"]), (4, 1))
        self.each(check)

    def test_the_file_of_a_rank_is_lost(self):
        def check(mpi, _):
            self.lines(self.launch(mpi, 3, "unusual", "meet"))
            ranks_of(self.traces())[1].path.unlink()
            [job] = self.report()["mpi_jobs"]
            self.assertEqual((job["size"], [rank["rank"] for rank in job["ranks"]]), (3, [0, 2]))
        self.each(check)


if __name__ == "__main__":
    unittest.main()
