"""What the tests of MPI programs share: launching them under each MPI library that is installed, and what the shim
recorded of their calls."""

import collections
import os
import shutil
import unittest

from plumb_test import PROGRAMS
from shim_test import ShimTest

MPI_PROGRAMS = PROGRAMS / "mpi"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
LAUNCH = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader"], "mpich": ["mpirun.mpich"]}

Counts = collections.namedtuple("Counts", "calls sent received")


def told(output):
    """{rank: {function: Counts}} of what programs print (tests/programs/mpi/tally.h)."""
    ranks = {}
    for line in output.splitlines():
        words = line.split()
        if len(words) == 5 and words[0].isdigit() and words[1].startswith("MPI_"):
            ranks.setdefault(int(words[0]), {})[words[1]] = Counts(*map(int, words[2:]))
    return ranks


def recorded(traces):
    """The same of what the shim recorded: {rank: {function: Counts}}."""
    ranks = {}
    for trace in traces:
        for rank in trace.of("MpiRank"):
            calls = ranks.setdefault(rank["rank"], {})
            for site in trace.of("MpiSite"):
                name, before = site["call"], calls.get(site["call"], Counts(0, 0, 0))
                calls[name] = Counts(before.calls + site["calls"], before.sent + site["sent_bytes"],
                                     before.received + site["received_bytes"])
    return ranks


class MpiTest(ShimTest):
    def needs(self, mpi, program=None):
        if not shutil.which(LAUNCH[mpi][0]):
            raise unittest.SkipTest(f"{LAUNCH[mpi][0]} is not installed")
        if program and not (MPI_PROGRAMS / f"{program}.{mpi}").exists():
            raise unittest.SkipTest(f"{program}.{mpi} is not built here (no such compiler)")

    def launch(self, mpi, ranks, *command, shimmed=True, **variables):
        """Runs it under the library's own launcher; only the ranks have the shim."""
        program = command[0] if "/" in str(command[0]) else MPI_PROGRAMS / f"{command[0]}.{mpi}"
        inner = {**variables}
        if shimmed:
            environment = self.shimmed_environment(**variables)
            inner.update({name: environment[name] for name in ("LD_PRELOAD", "PLUMB_RUN")})
        settings = [f"{name}={value}" for name, value in inner.items()]
        return self.finish([shutil.which(LAUNCH[mpi][0]), *LAUNCH[mpi][1:], "-n", ranks, "env", *settings, program,
                            *command[1:]], {**os.environ, **AS_ROOT})

    def compare(self, output, traces, ranks):
        """What the program counted itself must be what was recorded, function by function."""
        truth, seen = told(output), recorded(traces)
        self.assertEqual(sorted(truth), list(range(ranks)))
        self.assertEqual(sorted(seen), list(range(ranks)))
        for rank in truth:
            wrong = {name: (truth[rank].get(name), seen[rank].get(name))
                     for name in {*truth[rank], *seen[rank]} if truth[rank].get(name) != seen[rank].get(name)}
            self.assertEqual(wrong, {}, f"rank {rank}: (told, recorded)")
