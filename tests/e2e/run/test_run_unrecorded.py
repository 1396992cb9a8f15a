"""Whatever fails in the tool, the program runs: unrecorded, with its own exit status, and one sentence says so."""

import json
import os
import resource
import signal
import stat
import subprocess
import time
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest
from trace_reader import Trace


class Unrecorded(PlumbTest):
    def check_runs(self, *options, words="", **popen):
        done = subprocess.run([PLUMB, "run", *options, "--", "sh", "-c", "echo out; exit 7"], capture_output=True,
                              text=True, timeout=60, **popen)
        self.assertEqual((done.returncode, done.stdout), (7, "out\n"), done.stderr)
        self.assertRegex(done.stderr, rf"\Aplumb: the program runs unrecorded: .*{words}.*\n\Z")

    def test_directory_that_cannot_be_made(self):
        self.check_runs("-o", "/proc/run", words="/proc/run")
        self.check_runs("-o", str(self.scratch / "missing" / "run"), words="missing")

    def test_no_room_for_the_file(self):
        self.check_runs("-o", str(self.run_directory), words="cannot",
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))

    def test_no_descriptors(self):
        for most in range(4, 12): # fails at another place each time, or not at all
            with self.subTest(most=most):
                done = subprocess.run([PLUMB, "run", "-o", str(self.scratch / f"run{most}"), "--no-report", "--", "sh",
                                       "-c", "ulimit -n; exit 7"], capture_output=True, text=True, timeout=60,
                                      preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
                self.assertEqual((done.returncode, done.stdout), (7, f"{most}\n"), done.stderr)

    def test_descriptors_taken_away(self):
        """The recorder cannot wait for its rings any more, but for the program it does."""
        run = subprocess.Popen([PLUMB, "run", "-o", str(self.run_directory), "--no-report", "--", "sh", "-c",
                                "touch started; sleep 1; exit 7"], stderr=subprocess.PIPE, text=True, cwd=self.scratch)
        self.addCleanup(run.kill)
        while not (self.scratch / "started").exists() and run.poll() is None:
            time.sleep(0.01)
        resource.prlimit(run.pid, resource.RLIMIT_NOFILE, (3, 3))
        said = run.communicate(timeout=60)[1]
        self.assertEqual(run.returncode, 7, said)
        self.assertIn("the recording is incomplete", said)

    def test_a_rank_that_cannot_record_holds_up_no_report(self):
        variables = {"OMPI_COMM_WORLD_SIZE": "3", "PMIX_NAMESPACE": "x"}
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
        ranks = [subprocess.Popen([PLUMB, "run", "-o", str(self.run_directory), "--", "sh", "-c",
                                   f"sleep {1 if rank else 0.1}; exit {rank}"],
                                  env={**os.environ, **variables, "OMPI_COMM_WORLD_RANK": str(rank)}, text=True,
                                  stderr=subprocess.PIPE, preexec_fn=limit if rank == 0 else None) for rank in range(3)]
        said = [rank.communicate(timeout=60)[1] for rank in ranks]
        self.assertEqual([rank.returncode for rank in ranks], [0, 1, 2])
        self.assertIn("the program runs unrecorded", said[0])
        self.assertEqual(json.loads((self.run_directory / "run.json").read_text())["recorders"],
                         {"expected": 3, "started": 3, "finished": 3, "unrecorded": 1})
        self.assertEqual(sum(len(text.splitlines()) > 5 for text in said[1:]), 1, said)

    def test_pinning_that_fails(self):
        done = subprocess.run([PLUMB, "run", "-o", str(self.run_directory), "--no-report", "--pin", "compact", "--", "sh",
                               "-c", "echo out; exit 7"], capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
        self.assertEqual((done.returncode, done.stdout), (7, "out\n"), done.stderr)
        self.assertIn("the program is not pinned", done.stderr)
        wrong = subprocess.run([PLUMB, "run", "--pin", "list:9999", "--", "true"], capture_output=True, text=True,
                               cwd=self.scratch)
        self.assertEqual(wrong.returncode, 125) # it cannot be meant

    def test_small_address_space(self):
        """Any limit under which plumb itself can be loaded: the program runs with that limit."""
        for megabytes in (40, 60, 80, 100, 150, 200, 300, 500, 800, 1200):
            bytes = megabytes << 20
            limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes))
            loads = subprocess.run([PLUMB, "--version"], capture_output=True, preexec_fn=limit).returncode == 0
            with self.subTest(megabytes=megabytes, loads=loads):
                done = subprocess.run([PLUMB, "run", "-o", str(self.scratch / f"as{megabytes}"), "--", "sh", "-c",
                                       "ulimit -v; exit 7"], capture_output=True, text=True, timeout=60, preexec_fn=limit)
                if loads:
                    self.assertEqual((done.returncode, done.stdout), (7, f"{bytes >> 10}\n"), done.stderr)

    def test_nobody_finds_an_unknown_child(self):
        """The process that plumb had prepared for the program is gone when plumb becomes the program."""
        done = subprocess.run([PLUMB, "run", "-o", "/proc/run", "--", "python3", "-c",
                               "import os\ntry: os.wait()\nexcept ChildProcessError: print('none')"],
                              capture_output=True, text=True)
        self.assertEqual(done.stdout, "none\n")

    def test_program_that_is_missing_is_said_alone(self):
        done = subprocess.run([PLUMB, "run", "-o", "/proc/run", "--", "/nowhere"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_recorder_without_memory(self):
        done = self.record("sh", "-c", "sleep 0.6; exit 7", check=7,
                           env={**os.environ, "LD_PRELOAD": str(PROGRAMS / "fault_in_recorder.so")})
        self.assertIn("the recording is incomplete", done.stderr)

    def test_no_memory_at_all(self):
        """Words that need none: one sentence, and the program's own status."""
        for moment, words in (("start", "the program runs unrecorded: there is no memory"),
                              ("record", "the program runs unrecorded: "),
                              ("rest", "there is no memory for a message")):
            with self.subTest(moment):
                done = subprocess.run([PLUMB, "run", "-o", str(self.scratch / moment), "--", "sh", "-c",
                                       "sleep 0.6; echo out; exit 7"], capture_output=True, text=True, timeout=60,
                                      env={**os.environ, "NO_MEMORY": moment,
                                           "LD_PRELOAD": str(PROGRAMS / "fault_in_recorder.so")})
                self.assertEqual((done.returncode, done.stdout), (7, "out\n"), done.stderr)
                self.assertRegex(done.stderr, rf"\Aplumb: {words}[^\n]*\n\Z")

    def test_address_space_that_barely_holds_plumb(self):
        """From the first limit on under which the loader has room for plumb's libraries, in steps of 64 KiB."""
        def limited(kibibytes):
            return lambda: resource.setrlimit(resource.RLIMIT_AS, (kibibytes << 10, kibibytes << 10))
        def version(kibibytes):
            return subprocess.run([PLUMB, "--version"], capture_output=True, preexec_fn=limited(kibibytes)).returncode
        def loader_has_room(kibibytes):  # it says what it loaded, and ends before the program begins
            return subprocess.run([PLUMB], capture_output=True, preexec_fn=limited(kibibytes),
                                  env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}).returncode == 0
        # First the kernel has no room for the executable itself, and ends it by a signal; then the loader has none for the
        # libraries, and says so or ends by a signal as well; then none for their variables: 127, "cannot allocate TLS data structures".
        least = next(size for size in range(8 << 10, 1 << 20, 64) if loader_has_room(size) and version(size) != 127)
        for size in range(least, least + 1024, 64):
            done = subprocess.run([PLUMB, "run", "-o", str(self.scratch / str(size)), "--no-report", "--", "sh", "-c",
                                   "exit 7"], capture_output=True, text=True, timeout=60, preexec_fn=limited(size))
            self.assertEqual(done.returncode, 7, (size, done.stderr))
            self.assertLessEqual(done.stderr.count("\n"), 1, (size, done.stderr))

    def test_stderr_that_cannot_be_written(self):
        for place in (">/dev/full", ">&-", "> >(true)"):
            line = f'"{PLUMB}" run -o "{self.run_directory}" --force -- sh -c "sleep 0.2; exit 7" 2{place}'
            self.assertEqual(subprocess.run(["bash", "-c", line], timeout=60).returncode, 7, place)


class Crashes(PlumbTest):
    """Whatever crashes in plumb, the program ends by itself and its exit status is plumb's."""

    def check(self, where, words, program="echo out; sleep 0.3; exit 7", status=7, **variables):
        run = self.scratch / f"{where}{len(variables)}" # what a crash leaves behind is no run that may be replaced
        done = subprocess.run([PLUMB, "run", "-o", str(run), "--", "sh", "-c", program],
                              capture_output=True, text=True, timeout=60,
                              env={**os.environ, "LD_PRELOAD": str(PROGRAMS / "crash_in_recorder.so"),
                                   "CRASH_IN": where, **variables})
        self.assertEqual((done.returncode, done.stdout), (status, "out\n"), done.stderr)
        self.assertRegex(done.stderr, rf"\Aplumb: [^\n]*{words}[^\n]*\n\Z")

    def test_at_every_stage(self):
        for where, words in (("signalfd", "the program runs unrecorded: plumb crashed with signal"),
                             ("ppoll", "recorder crashed .*rest of the program runs unrecorded"),
                             ("renameat", "recorder crashed .*the recording is incomplete"),
                             ("isatty", f"recorded into {self.scratch}/isatty[01], but the report crashed with signal")):
            for how in ({}, {"CRASH_BY": "abort"}):
                with self.subTest(where=where, how=how):
                    self.check(where, words + (" 6" if how else " 11") if words.endswith("signal") else words, **how)

    def test_program_that_a_signal_ends(self):
        self.check("ppoll", "recorder crashed", "echo out; sleep 0.3; kill -TERM $$", 128 + 15)

    def test_signals_are_sent_on_by_what_is_left(self):
        """SIGTERM to plumb ends the program, also after plumb has crashed; SIGABRT, too, before."""
        for variables, number in (({"CRASH_IN": "ppoll"}, 15), ({}, 6)):
            with self.subTest(number=number):
                run = subprocess.Popen([PLUMB, "run", "-o", str(self.scratch / f"run{number}"), "--no-report", "--",
                                        "sh", "-c", "trap 'exit 9' TERM ABRT; echo out; while :; do sleep 0.05; done"],
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       env={**os.environ, "LD_PRELOAD": str(PROGRAMS / "crash_in_recorder.so"),
                                            **variables})
                self.assertEqual(run.stdout.readline(), b"out\n")
                run.send_signal(number)
                run.stdout.close()
                self.assertEqual(run.wait(timeout=60), 9)


class Names(PlumbTest):
    @unittest.skipUnless(subprocess.run(["unshare", "-Urpf", "--mount-proc", "true"], capture_output=True).returncode == 0,
                         "needs PID namespaces")
    def test_same_host_and_pid(self):
        """Two ranks in containers."""
        variables = {"OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "x"}
        ranks = [subprocess.Popen(["unshare", "-Urpf", "--mount-proc", PLUMB, "run", "-o", str(self.run_directory),
                                   "--no-report", "--", "sh", "-c", "sleep 0.5; exit 7"],
                                  env={**os.environ, **variables, "OMPI_COMM_WORLD_RANK": str(rank)},
                                  stderr=subprocess.PIPE, text=True) for rank in range(2)]
        self.assertEqual([(rank.communicate()[1], rank.returncode) for rank in ranks], [("", 7), ("", 7)])
        self.assertEqual(len(list(self.run_directory.glob("node-*.plumb"))), 2)


class Foreign(PlumbTest):
    """A directory that another user has prepared for a name that can be guessed."""

    JOB = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "PMIX_NAMESPACE": "x"}

    def prepare(self, mode, owner):
        self.scratch.chmod(0o755)
        victim = self.scratch / "victim"
        victim.write_text("precious")
        directory = self.scratch / "plumb-true-openmpi-x"
        directory.mkdir()
        (directory / ".job").write_text("openmpi-x")
        for name in ("run.json", ".lock", ".node-vm"):
            (directory / name).symlink_to(victim)
        for pid in range(1, 33000):
            os.symlink(victim, directory / f"run.json.{pid}")
        for path in (directory, *directory.iterdir()):
            os.chown(path, owner, owner, follow_symlinks=False)
        directory.chmod(mode)
        return directory, victim

    @unittest.skipUnless(os.geteuid() == 0, "needs root to prepare another user's directory")
    def test_planted_links(self):
        directory, victim = self.prepare(0o777, 65534)
        subprocess.run([PLUMB, "run", "--no-report", "--", "/bin/true"], cwd=self.scratch, check=True, timeout=60,
                       env={**os.environ, **self.JOB})
        self.assertEqual(victim.read_text(), "precious")
        self.assertEqual(list(directory.glob("*.plumb")), [])
        done = subprocess.run([PLUMB, "run", "-o", directory, "--", "sh", "-c", "exit 7"], capture_output=True, text=True,
                              env={**os.environ, **self.JOB}, timeout=60)
        self.assertEqual(done.returncode, 7)
        self.assertIn("belongs to another user", done.stderr)

    def test_own_directory_open_to_others_is_not_joined(self):
        directory, victim = self.prepare(0o755, os.geteuid())
        subprocess.run([PLUMB, "run", "--no-report", "--", "/bin/true"], cwd=self.scratch, check=True, timeout=60,
                       env={**os.environ, **self.JOB})
        self.assertEqual((victim.read_text(), list(directory.glob("*.plumb"))), ("precious", []))
        self.assertTrue((self.scratch / "plumb-true-openmpi-x-2" / "run.json").exists())

    def test_own_empty_directory_is_closed_to_others(self):
        self.run_directory.mkdir(mode=0o755)
        self.record("true", options=["--no-report"], check=0)
        self.assertEqual(stat.S_IMODE(self.run_directory.stat().st_mode), 0o700)


class NoLocks(PlumbTest):
    def test_node_is_watched_and_the_lack_is_said(self):
        for error in (38, 37): # ENOSYS, ENOLCK
            run = self.scratch / str(error)
            variables = {"LD_PRELOAD": str(PROGRAMS / "no_flock.so"), "NO_FLOCK_ERROR": str(error),
                         "OMPI_COMM_WORLD_SIZE": "4", "PMIX_NAMESPACE": "x"}
            ranks = [subprocess.Popen([PLUMB, "run", "-o", str(run), "--no-report", "--", PROGRAMS / "burn", "0.5"],
                                      env={**os.environ, **variables, "OMPI_COMM_WORLD_RANK": str(rank)})
                     for rank in range(4)]
            self.assertEqual([rank.wait(timeout=60) for rank in ranks], [0] * 4)
            self.assertEqual(json.loads((run / "run.json").read_text())["recorders"],
                             {"expected": 4, "started": 4, "finished": 4})
            traces = [Trace(path) for path in run.glob("node-*.plumb")]
            watching = [trace for trace in traces if trace.of("CpuInterval")]
            # One at a time: who still runs when the first one ends takes over.
            times = sorted((min(interval["begin_ns"] for interval in trace.of("CpuInterval")),
                            max(interval["end_ns"] for interval in trace.of("CpuInterval"))) for trace in watching)
            self.assertTrue(times, "nobody watches the node")
            for (_, end_ns), (begin_ns, _) in zip(times, times[1:]):
                self.assertLessEqual(end_ns, begin_ns, f"two watch the node at once: {times}")
            first = min(watching, key=lambda trace: trace.of("CpuInterval")[0]["begin_ns"])
            self.assertIn("flock fails", first.evidence()["run-directory"][1])

    def rank(self, number, *command, **variables):
        return subprocess.Popen([PLUMB, "run", "-o", str(self.run_directory), "--no-report", "--", *map(str, command)],
                                env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2", "PMIX_NAMESPACE": "x",
                                     "OMPI_COMM_WORLD_RANK": str(number), **variables})

    def is_watched(self):
        try:
            return any(Trace(path).of("Topology") for path in self.run_directory.glob("node-*.plumb"))
        except ValueError: # it is being made
            return False

    def test_lock_of_a_killed_recorder_holds_nobody_up(self):
        without_locks = {"LD_PRELOAD": str(PROGRAMS / "no_flock.so")}
        killed = self.rank(0, "true", **without_locks, NO_FLOCK_DIE_HOLDING="1")
        self.assertEqual(killed.wait(timeout=60), -signal.SIGKILL)
        self.assertTrue((self.run_directory / ".lock-held").exists())
        begin = time.monotonic()
        self.assertEqual(self.rank(1, "sh", "-c", "exit 7", **without_locks).wait(timeout=120), 7)
        self.assertLess(time.monotonic() - begin, 10)

    def test_watch_of_the_node_is_taken_over(self):
        """From a recorder that ended, and from one that was killed."""
        for name, variables in (("locks", {}), ("no-locks", {"LD_PRELOAD": str(PROGRAMS / "no_flock.so")})):
            for killed in (False, True):
                with self.subTest(name, killed=killed):
                    self.run_directory = self.scratch / f"{name}-{killed}"
                    first = self.rank(0, PROGRAMS / "burn", 0.5, **variables)
                    deadline = time.monotonic() + 60
                    while time.monotonic() < deadline and not self.is_watched():
                        time.sleep(0.02)
                    second = self.rank(1, PROGRAMS / "burn", 4, **variables)
                    if killed:
                        time.sleep(0.2)
                        first.kill()
                    self.assertEqual(first.wait(timeout=60), -signal.SIGKILL if killed else 0)
                    self.assertEqual(second.wait(timeout=60), 0)
                    trace, = (trace for path in self.run_directory.glob("node-*.plumb")
                              if (trace := Trace(path)).pid == second.pid)
                    self.assertTrue(trace.of("CpuInterval"), "nobody watches the node any more")


if __name__ == "__main__":
    unittest.main()
