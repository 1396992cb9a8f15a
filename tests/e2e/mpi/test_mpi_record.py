"""What is recorded of MPI jobs: both ends of messages agree, all members of communicators agree, and jobs that end badly
leave what there was until then. Each test runs under every MPI library that is installed."""

import collections
import json
import os
import re
import shutil
import subprocess
import unittest

from mpi_test import AS_ROOT, LAUNCH, MPI_PROGRAMS, MpiTest
from plumb_test import PLUMB

SENT, WILDCARD = 1, 4
SPAWNED, ABORTED, SILENCED = 1, 4, 8


def ranks_of(traces):
    return {trace.of("MpiRank")[0]["rank"]: trace for trace in traces if trace.of("MpiRank")}


def identities(trace):
    return {comm["id"]: (comm["group_hash"], comm["ordinal"], comm["size"]) for comm in trace.of("MpiComm")}


def messages(traces):
    """The keys of all messages that were kept: those sent, and those received."""
    sent, received = collections.Counter(), collections.Counter()
    for rank, trace in ranks_of(traces).items():
        comms = identities(trace)
        for message in trace.of("MpiMessage"):
            if not message["site"]:
                continue
            key = (comms[message["comm"]], message["tag"], message["sequence"], message["bytes"])
            if message["flags"] & SENT:
                sent[rank, message["peer"], key] += 1
            else:
                received[message["peer"], rank, key] += 1
    return sent, received


def collectives(traces):
    """{(communicator, sequence): ranks that took part}"""
    members = collections.defaultdict(list)
    for rank, trace in ranks_of(traces).items():
        comms = identities(trace)
        for event in trace.of("MpiCollective"):
            if event["site"]:
                members[comms[event["comm"]], event["sequence"]].append(rank)
    return members


def calls(trace, name):
    return sum(site["calls"] for site in trace.of("MpiSite") if site["call"] == name)


class Agreement(MpiTest):
    def check(self, mpi):
        self.needs(mpi, "waits")
        bare = self.launch(mpi, 4, "waits", 3, shimmed=False)
        done = self.launch(mpi, 4, "waits", 3)
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout), done.stderr)
        traces = self.traces()
        self.assertEqual(sorted(ranks_of(traces)), [0, 1, 2, 3])
        sent, received = messages(traces)
        self.assertEqual(sent, received)
        self.assertEqual(set(sent.values()), {1})
        # Per round and how: two messages on three communicators of each rank, in odd ranks once more on the copy;
        # and three of persistent requests.
        self.assertEqual(sum(sent.values()), 3 * (4 * (8 * 3 * 2 + 3) + 2 * 2))
        for (comm, sequence), members in collectives(traces).items():
            if comm[2] > 1:
                self.assertEqual(len(members), comm[2], f"{comm} {sequence}: {members}")
        for trace in traces:
            rank = trace.of("MpiRank")[0]
            self.assertEqual((rank["unmatched"], rank["dropped_sites"]), (0, 0))
            self.assertEqual((rank["message_stride"], rank["collective_stride"]), (1, 1))
            self.assertTrue(rank["init_begin_ns"] <= rank["init_end_ns"] <= rank["finalize_begin_ns"]
                            <= rank["finalize_end_ns"])
            self.assertGreater(rank["last_ticks"], rank["first_ticks"])
            for message in trace.of("MpiMessage"):
                self.assertTrue(message["begin_ticks"] <= message["wait_ticks"] <= message["end_ticks"])
            inside = sum(site["ticks"] for site in trace.of("MpiSite") if site["timed_calls"] == site["calls"])
            self.assertLess(inside, 1.001 * (rank["last_ticks"] - rank["first_ticks"])) # that of polls is an estimate
        # No communicator is another one, though handles were used again.
        made = [identities(trace).values() for trace in traces]
        for ours in made:
            self.assertEqual(len(set(ours)), len(ours))

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


class Thinning(MpiTest):
    """More events than places: all ranks keep the same ones, whatever else they did."""

    def check(self, mpi):
        self.needs(mpi, "bad_days")
        count = 3000
        done = self.launch(mpi, 2, "bad_days", "many", count, PLUMB_FILE_LIMIT=str(512 << 10))
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        traces = self.traces()
        by_rank = ranks_of(traces)
        self.assertEqual(sorted(by_rank), [0, 1])
        strides = [trace.of("MpiRank")[0]["message_stride"] for _, trace in sorted(by_rank.items())]
        self.assertGreater(strides[1], 1)
        self.assertGreaterEqual(strides[1], strides[0])
        sent, received = messages(traces)
        largest = max(strides)
        common = {key for key in sent if key[2][2] % largest == 0}
        self.assertEqual(common, {key for key in received if key[2][2] % largest == 0})
        expected = 3 * count / largest
        self.assertTrue(0.7 * expected < len(common) < 1.3 * expected, (len(common), expected))
        for trace in traces:
            rank = trace.of("MpiRank")[0]
            self.assertEqual(rank["collectives"], count)
            self.assertEqual(calls(trace, "MPI_Barrier"), count)
            stride = rank["collective_stride"]
            kept = sorted(event["sequence"] for event in trace.of("MpiCollective") if event["site"])
            self.assertEqual(kept, list(range(0, count, stride)))
            self.assertLessEqual(trace.size, 512 << 10)

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


class Polls(MpiTest):
    """Polls in a row are recorded with a look at the stack: whoever calls, each is counted where it belongs."""

    def check(self, mpi):
        self.needs(mpi, "polls")
        done = self.launch(mpi, 1, "polls")
        self.assertEqual(done.returncode, 0, done.stderr)
        sites = self.trace().of("MpiSite")
        for call, expected in (("MPI_Test", [4000, 8000]), ("MPI_Iprobe", [1000, 1000, 8000, 8000])):
            found = [site for site in sites if site["call"] == call]
            self.assertEqual(sorted(site["calls"] for site in found), expected)
            self.assertEqual([site["found_nothing"] for site in found], [site["calls"] for site in found])
        probes = collections.Counter()
        for site in sites:
            if site["call"] == "MPI_Iprobe":
                probes[site["comm"]] += site["calls"]
        self.assertEqual(list(probes.values()), [9000, 9000])

    def test_openmpi(self):
        self.check("openmpi")

    def test_mpich(self):
        self.check("mpich")


# What MPICH's launcher adds to a job that died. It comes or not, by chance: when the launcher reads the end of its
# proxy before it reads the status.
LAUNCHERS_BANNER = re.compile(r"\n=+\n=   BAD TERMINATION.*?\n=+\n(YOUR APPLICATION TERMINATED.*?suggestions\n)?", re.S)
# What MPICH's launcher returns by the same chance, of about 70 without plumb once, where the rank's own status was 9.
LAUNCHERS_OWN_STATUS = 1
MOST_LAUNCHES = 4


class BadDays(MpiTest):
    def ended(self, mpi, what, shimmed):
        """The finished job; again where the launcher returned its own status, which may be chance, but not each time."""
        for _ in range(MOST_LAUNCHES):
            self.fresh()
            done = self.launch(mpi, 2, "bad_days", what, shimmed=shimmed)
            if mpi != "mpich" or done.returncode != LAUNCHERS_OWN_STATUS:
                break
        return done

    def ends(self, mpi, what):
        """Runs it bare and shimmed: same status, same output; the traces."""
        self.needs(mpi, "bad_days")
        bare = self.ended(mpi, what, shimmed=False)
        done = self.ended(mpi, what, shimmed=True)
        said = [LAUNCHERS_BANNER.sub("", run.stdout) for run in (done, bare)]
        self.assertEqual((done.returncode, said[0]), (bare.returncode, said[1]), done.stderr)
        return ranks_of(self.traces())

    def check_death(self, mpi, what):
        ranks = self.ends(mpi, what)
        self.assertIn(1, ranks)
        rank = ranks[1].of("MpiRank")[0]
        self.assertEqual(rank["finalize_begin_ns"], 0)
        self.assertEqual(calls(ranks[1], "MPI_Barrier"), 10)
        kept = [event["sequence"] for event in ranks[1].of("MpiCollective") if event["site"]]
        self.assertEqual(kept, list(range(10)))
        return rank

    def test_kill(self):
        for mpi in LAUNCH:
            with self.subTest(mpi):
                self.check_death(mpi, "kill")
                self.fresh()

    def test_exit_without_finalize(self):
        for mpi in LAUNCH:
            with self.subTest(mpi):
                self.check_death(mpi, "exit")
                self.fresh()

    def test_abort(self):
        for mpi in LAUNCH:
            with self.subTest(mpi):
                self.assertTrue(self.check_death(mpi, "abort")["flags"] & ABORTED)
                self.fresh()

    def test_recording_switched_off_by_the_program(self):
        for mpi in LAUNCH:
            with self.subTest(mpi):
                for trace in self.ends(mpi, "silent").values():
                    self.assertTrue(trace.of("MpiRank")[0]["flags"] & SILENCED)
                    self.assertEqual(calls(trace, "MPI_Barrier"), 2)
                    kept = [event["sequence"] for event in trace.of("MpiCollective") if event["site"]]
                    self.assertEqual(kept, [0, 8]) # numbers go on meanwhile
                self.fresh()

    def test_calls_around_the_tool(self):
        for mpi in LAUNCH:
            with self.subTest(mpi):
                for trace in self.ends(mpi, "around").values():
                    self.assertEqual(calls(trace, "MPI_Barrier"), 5)
                self.fresh()

    def test_fork(self):
        for mpi in LAUNCH:
            with self.subTest(mpi):
                self.assertEqual(sorted(self.ends(mpi, "fork")), [0, 1])
                self.assertEqual(sum(1 for trace in self.traces() if trace.of("MpiRank")), 2)
                self.fresh()

    def check_spawn(self, mpi):
        self.needs(mpi, "bad_days")
        # Open MPI's shared memory does not reach from one job to another.
        launch = [shutil.which(LAUNCH[mpi][0]), *(["--oversubscribe"] if mpi == "openmpi" else []), "-n", 1]
        program = [MPI_PROGRAMS / f"bad_days.{mpi}", "spawn"]
        bare = self.finish([*launch, *program], {**os.environ, **AS_ROOT})
        if bare.returncode != 0:
            self.skipTest(f"MPI_Comm_spawn does not work here: {bare.stderr[-300:]}")
        done = self.finish([*launch, *program], {**self.shimmed_environment(), **AS_ROOT}) # the launcher spawns
        self.assertEqual((done.returncode, done.stdout), (0, bare.stdout), done.stderr)
        ranks = [trace.of("MpiRank")[0] for trace in self.traces() if trace.of("MpiRank")]
        self.assertEqual(sorted((rank["rank"], rank["flags"] & SPAWNED) for rank in ranks),
                         [(0, 0), (0, SPAWNED), (1, SPAWNED)])
        self.assertEqual(len({rank["job"] for rank in ranks}), 2)

    def test_spawned_processes_openmpi(self):
        self.check_spawn("openmpi")

    def test_spawned_processes_mpich(self):
        self.check_spawn("mpich")

    def fresh(self):
        shutil.rmtree(self.run_directory)
        self.run_directory.mkdir(mode=0o700)


class Command(MpiTest):
    """`plumb run` around the launcher and inside it: one directory, all ranks in it, the report printed once."""

    def run_plumb(self, mpi, command):
        environment = {**os.environ, **AS_ROOT}
        shutil.rmtree(self.run_directory, ignore_errors=True)
        return subprocess.run([str(word) for word in command], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=120)

    def check(self, mpi, inside):
        self.needs(mpi, "waits")
        plumb = [PLUMB, "run", "-o", self.run_directory, "--"]
        launch = [shutil.which(LAUNCH[mpi][0]), *LAUNCH[mpi][1:], "-n", 2]
        program = [MPI_PROGRAMS / f"waits.{mpi}", 1]
        bare = self.run_plumb(mpi, launch + program)
        done = self.run_plumb(mpi, launch + plumb + program if inside else plumb + launch + program)
        self.assertEqual((done.returncode, done.stdout), (bare.returncode, bare.stdout), done.stderr)
        self.assertEqual(sorted(ranks_of(self.traces())), [0, 1])
        jobs = {trace.of("MpiRank")[0]["job"] for trace in self.traces() if trace.of("MpiRank")}
        self.assertEqual(len(jobs), 1)
        self.assertEqual(json.loads((self.run_directory / "run.json").read_text())["state"], "finished")
        self.assertEqual(done.stderr.count("Recorded in "), 1, done.stderr)
        states = {evidence["source"]: evidence["state"] for evidence in self.report()["evidence"]}
        self.assertEqual(states.get("mpi"), "ok")

    def test_around_openmpi(self):
        self.check("openmpi", False)

    def test_around_mpich(self):
        self.check("mpich", False)

    def test_inside_openmpi(self):
        self.check("openmpi", True)

    def test_inside_mpich(self):
        self.check("mpich", True)

    def test_not_asked_for(self):
        mpi = next((name for name in LAUNCH if (MPI_PROGRAMS / f"waits.{name}").exists()), None)
        if not mpi:
            self.skipTest("no MPI is installed")
        self.needs(mpi, "waits")
        done = self.run_plumb(mpi, [PLUMB, "run", "-o", self.run_directory, "--without", "mpi", "--no-report", "--",
                                    shutil.which(LAUNCH[mpi][0]), *LAUNCH[mpi][1:], "-n", 2,
                                    MPI_PROGRAMS / f"waits.{mpi}", 1])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([trace for trace in self.traces() if trace.of("MpiRank")], [])


if __name__ == "__main__":
    unittest.main()
