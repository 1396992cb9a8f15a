"""Processes: forks, execs and ends of every kind behave as without the shim, and the traces tell them apart."""

import os
import signal
import subprocess
import time
import unittest

from shim_test import SHIM_PROGRAMS, ShimTest


class Forks(ShimTest):
    def test_every_child_has_a_file_of_its_own(self):
        done = self.run_both("forks")
        traces = self.traces()
        parent = next(trace for trace in traces if not trace.start["flags"] & 1)
        children = [trace for trace in traces if trace is not parent]
        # 20 of fork, one each of _Fork, nested fork and grandchild; a raw clone records nothing.
        self.assertEqual(len(children), 23)
        self.assertEqual(done.stdout.count("raw clone: exit 12"), 1)
        for trace in children:
            self.assertTrue(trace.closed)
            self.assertEqual(trace.end[0], "exit")
            self.assertEqual(trace.start["pid"], trace.pid)
            self.assertTrue(trace.of("ModuleLoad"))
        self.assertEqual(sorted(trace.end[1] for trace in children), [10] * 20 + [11, 13, 14])
        self.assertEqual(sum(trace.start["parent_pid"] == parent.pid for trace in children), 22)
        for trace in traces:
            self.assertTrue(all(start["tid"] == trace.pid or start["creator_tid"] == trace.pid
                                for start in trace.of("ThreadStart")))

    def test_children_do_not_wait_for_a_lock_of_their_parents_other_thread(self):
        for hz in ("", "250"):
            with self.subTest(hz=hz):
                done = self.run_both("fork_in_lock", PLUMB_COLLECTORS="threads,modules,heap,mpi", PLUMB_TIMER_HZ=hz)
                self.assertEqual(done.stdout, "fork: 10\n_Fork: 11\ncontrol: -14\n" * 2)
                self.assertEqual(sorted(trace.end[1] for trace in self.traces() if trace.start["flags"] & 1 and trace.end),
                                 [10, 10, 11, 11])
                for trace in self.traces():
                    trace.path.unlink()

    def test_daemon_goes_on_recording(self):
        ready = self.scratch / "ready"
        done = self.run_shimmed("daemonise", ready)
        self.assertEqual(done.returncode, 0)
        deadline = time.monotonic() + 30
        daemon = None
        while time.monotonic() < deadline and not (daemon and daemon.closed):
            time.sleep(0.01)
            if ready.exists():
                pid = int(ready.read_text())
                daemon = next(trace for trace in self.traces() if trace.pid == pid)
        self.assertTrue(daemon and daemon.closed)
        self.assertEqual(len(daemon.of("ThreadStart")), 2)


class Children(ShimTest):
    def test_all_kinds(self):
        self.run_both("children")
        traces = self.traces("children")
        parent = next(trace for trace in traces if len(trace.arguments) == 1 and not trace.start["flags"] & 1)
        self.assertEqual(parent.end, ("exit", 0))
        # Failed execs in vfork children and in the parent itself leave no end behind.
        self.assertEqual([end["kind"] for end in parent.of("ProcessEnd")], [0, 1])
        images = {trace.arguments[1]: trace for trace in traces if len(trace.arguments) > 1}
        # execle was given an environment without the preload: that image is not recorded.
        self.assertEqual(sorted(images), ["21", "23", "24", "25", "30", "32", "33", "34", "35", "36", "37"])
        for number, trace in images.items():
            self.assertEqual(trace.end, ("exit", int(number)))
        forked = [trace for trace in traces if trace.start["flags"] & 1]
        self.assertEqual([trace.end for trace in forked], [("exec", 0)] * 8)
        self.assertTrue(all(trace.closed for trace in traces))

    def test_an_image_after_exec_has_its_own_file(self):
        self.run_both("children")
        names = {trace.path.name for trace in self.traces("children")}
        second = [name for name in names if name.endswith(".1.plumb")]
        self.assertEqual(len(second), 7)
        for name in second:
            self.assertIn(name.replace(".1.plumb", ".plumb"), names)

    def test_static_child_runs_unrecorded(self):
        self.run_both("/usr/bin/env", SHIM_PROGRAMS / "static_child", 31)
        self.assertEqual(self.traces(), [])

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_setuid_child_runs_unrecorded(self):
        # In a folder of everybody's: nobody else could reach the build tree's.
        program = self.scratch / "privileged"
        self.scratch.chmod(0o755)
        program.write_bytes((SHIM_PROGRAMS / "children").read_bytes())
        program.chmod(0o4755)
        self.run_directory.chmod(0o777)
        def command(environment):
            return subprocess.run([str(program), "41"], env=environment, capture_output=True, text=True, user=65534)
        bare, shimmed = command(dict(os.environ)), command(self.shimmed_environment())
        self.assertEqual((bare.returncode, bare.stdout), (shimmed.returncode, shimmed.stdout))
        self.assertEqual(self.traces(), [])


class Ends(ShimTest):
    EXPECTED = {"return": ("exit", 2), "exit": ("exit", 3), "_exit": ("exit", 4), "_Exit": ("exit", 5),
                "quick_exit": ("quick_exit", 6), "abort": ("abort", 0), "caught-abort": ("exit", 9),
                "handler": ("exit", 7), "other-thread": ("exit", 8), "pthread_exit": ("exit", 0), "fault": None}

    def test_every_end(self):
        for way, expected in self.EXPECTED.items():
            with self.subTest(way):
                self.run_both("ends", way)
                trace = self.trace()
                self.assertEqual(trace.end, expected)
                self.assertEqual(trace.closed, way not in ("abort", "fault"))
                trace.path.unlink()

    def test_killed_in_the_middle(self):
        process = self.start("name_often", 5000, "stay")
        self.assertEqual(process.stdout.readline(), "named 5000 times\n")
        process.send_signal(signal.SIGKILL)
        process.communicate()
        trace = self.trace()
        self.assertFalse(trace.closed)
        self.assertEqual([name["name"] for name in trace.of("ThreadName")], [f"name {i}" for i in range(5000)])


class Scope(ShimTest):
    def test_shells_stay_dormant_and_their_programs_do_not(self):
        self.run_both("/bin/sh", "-c", f"true; '{SHIM_PROGRAMS / 'ends'}' exit; echo $?")
        self.assertEqual([trace.program for trace in self.traces()], ["ends"])

    def test_globs(self):
        command = ("/bin/sh", "-c", f"'{SHIM_PROGRAMS / 'ends'}' exit; '{SHIM_PROGRAMS / 'throws'}'")
        self.run_shimmed(*command, PLUMB_INCLUDE="nothing:en?s")
        self.assertEqual([trace.program for trace in self.traces()], ["ends"])
        self.run_shimmed(*command, PLUMB_INCLUDE="*/shim/*", PLUMB_EXCLUDE="ends")
        self.assertEqual(sorted(trace.program for trace in self.traces()), ["ends", "throws"])

    def test_without_a_run_directory_nothing_happens(self):
        self.run_both("thread_ends", PLUMB_RUN="")
        self.run_both("thread_ends", PLUMB_RUN="relative/path")
        self.assertEqual(self.traces(), [])

    def test_ranks(self):
        for variables, expected in [
                ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "8", "OMPI_COMM_WORLD_LOCAL_RANK": "1",
                  "SLURM_PROCID": "0"}, ("openmpi", 3, 8, 1)),
                ({"PMI_RANK": "2", "PMI_SIZE": "4", "MPI_LOCALRANKID": "0"}, ("hydra", 2, 4, 0)),
                ({"SLURM_PROCID": "5", "SLURM_NTASKS": "6", "SLURM_STEP_ID": "0"}, ("slurm", 5, 6, -1)),
                ({"SLURM_PROCID": "0", "SLURM_NTASKS": "6"}, (None, -1, -1, -1)),  # a job script
                ({"PMIX_RANK": "1"}, ("pmix", 1, -1, -1)),
                ({}, (None, -1, -1, -1))]:
            with self.subTest(variables):
                self.run_shimmed("ends", "exit", **variables)
                trace = self.trace()
                self.assertEqual(tuple(trace.start[field] for field in ("launcher", "rank", "rank_count",
                                                                        "local_rank")), expected)
                trace.path.unlink()

    def test_verbose_prints_every_variable(self):
        done = self.run_shimmed("ends", "exit", PLUMB_VERBOSE="1")
        self.assertIn("ends", done.stderr.splitlines()[0])
        self.assertIn("recorded", done.stderr.splitlines()[0])
        self.assertIn(f"PLUMB_RUN={self.run_directory}", done.stderr)
        self.assertIn("PLUMB_FILE_LIMIT=(unset)", done.stderr)
        self.assertEqual(done.stdout, "bye\n")


if __name__ == "__main__":
    unittest.main()
