"""plumb pin: every thread of a group gets its CPU, in the order of creation, and nothing else changes."""

import os
import re
import shutil
import signal
import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest

ALLOWED = sorted(os.sched_getaffinity(0))
PRINT = PROGRAMS / "print_affinity"


def relative(number):
    return str(ALLOWED[number % len(ALLOWED)])


def everywhere():
    return ",".join(map(str, ALLOWED))


class PinTest(PlumbTest):
    def pin(self, *command, options=("--list", "0-%d" % (len(ALLOWED) - 1)), status=0, environment=None):
        """Runs `plumb pin`; returns the lines "who: CPUs" of its stdout as a dictionary, and its stderr."""
        base = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
        done = subprocess.run([PLUMB, "pin", *options, "--", *map(str, command)], capture_output=True, text=True,
                              timeout=60, env={**base, **(environment or {})})
        self.assertEqual(done.returncode, status, done.stderr)
        return dict(line.split(": ") for line in done.stdout.splitlines() if ": " in line), done.stderr

    def test_main_thread_takes_the_first_position(self):
        for last in (0, len(ALLOWED) - 1):
            seen, table = self.pin(PRINT, options=("--list", str(last)))
            self.assertEqual(seen, {"main": relative(last)})
            self.assertRegex(table, r"(?m)^ +0 +%s .* print_affinity$" % relative(last))

    def test_threads_follow_in_the_order_of_creation_and_wrap_around(self):
        seen, table = self.pin(PRINT, "threads", "10")
        self.assertEqual(seen["main"], relative(0))
        for thread in range(10):
            self.assertEqual(seen[f"thread {thread}"], relative(thread + 1))
        wrapped = max(0, 11 - len(ALLOWED))
        if wrapped:
            self.assertIn(f"{wrapped} thread(s) shared a CPU with another thread", table)

    def test_an_attribute_of_the_programs_own_wins(self):
        own = len(ALLOWED) - 1
        seen, table = self.pin(PRINT, "own-attribute", ALLOWED[own], options=("--list", "0"))
        self.assertEqual(seen, {"main": relative(0), "own": relative(own)})
        self.assertIn("1 thread(s) were created with their own CPU mask", table)

    def test_a_mask_that_the_program_sets_later_stays(self):
        own = len(ALLOWED) - 1
        seen, _ = self.pin(PRINT, "own-later", ALLOWED[own], options=("--list", "0"))
        self.assertEqual(seen, {"before": relative(0), "after": relative(own)})

    def test_named_helpers_are_let_go(self):
        seen, table = self.pin(PRINT, "helper", options=("--list", "0-%d" % (len(ALLOWED) - 1), "--skip", "my_*"))
        self.assertEqual(seen, {"unnamed": relative(1), "named": everywhere()})
        self.assertIn("1 helper thread(s)", table)

    def test_fork_without_exec_takes_the_next_position(self):
        seen, _ = self.pin(PRINT, "fork")
        self.assertEqual(seen, {"parent": relative(0), "child": relative(1)})

    def test_exec_keeps_the_position(self):
        seen, table = self.pin(PRINT, "exec")
        self.assertEqual(seen, {"after exec": relative(0)})
        self.assertEqual(len(re.findall(r"print_affinity", table.split("as applied")[1])), 1)

    def test_copies_in_the_background_of_a_shell(self):
        copies = 2 * len(ALLOWED)
        script = "".join(f"{PRINT} tag c{copy} 300 & " for copy in range(copies)) + "wait"
        for shell in ("sh", "bash"):
            with self.subTest(shell=shell):
                seen, _ = self.pin(shell, "-c", script)
                self.assertEqual(seen, {f"c{copy}": relative(copy) for copy in range(copies)})

    def test_what_ran_before_leaves_its_position(self):
        script = f"mkdir {self.scratch}/new; {PRINT} tag a; (true; {PRINT} tag b); {PRINT} tag c 300 & {PRINT} tag d 300; wait"
        seen, _ = self.pin("sh", "-c", script)
        self.assertEqual(seen, {"a": relative(0), "b": relative(0), "c": relative(0), "d": relative(1)})

    def test_copies_of_a_process_that_spawns(self):
        script = ("import subprocess\n"
                  f"copies = [subprocess.Popen(['{PRINT}', 'tag', f'c{{i}}', '300']) for i in range({len(ALLOWED)})]\n"
                  "for copy in copies: copy.wait()\n")
        seen, _ = self.pin("/usr/bin/python3", "-c", script)
        # Python itself holds position 0; how its children are made (vfork) leaves their order to chance.
        self.assertEqual(sorted(seen.values()), sorted(relative(i + 1) for i in range(len(ALLOWED))))

    def test_killed_processes_leave_their_positions(self):
        script = f"{PRINT} tag a 60000 & kill=$!; sleep 0.3; kill -9 $kill; wait; {PRINT} tag b"
        seen, _ = self.pin("sh", "-c", script)
        self.assertEqual(seen["b"], relative(0))

    def test_local_ranks_own_blocks(self):
        for rank, variables in ((0, {"OMPI_COMM_WORLD_RANK": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0"}),
                                (1, {"OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_LOCAL_RANK": "1"}),
                                (1, {"PMI_RANK": "5", "MPI_LOCALRANKID": "1"}),
                                (1, {"SLURM_PROCID": "5", "SLURM_STEP_ID": "0", "SLURM_LOCALID": "1"}),
                                (1, {"PMIX_RANK": "5", "PMIX_LOCAL_RANK": "1"})):
            with self.subTest(variables=variables):
                seen, _ = self.pin(PRINT, environment=variables)
                self.assertEqual(seen["main"], relative(rank))

    def test_threads_of_a_rank_stay_in_its_block(self):
        variables = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMP_NUM_THREADS": "1"}
        seen, _ = self.pin(PRINT, "threads", "2", environment=variables)
        self.assertEqual(set(seen.values()), {relative(1)})

    def test_ranks_below_a_launcher_do_not_take_reserved_positions(self):
        script = "".join(f"PMI_RANK={rank} MPI_LOCALRANKID={rank} {PRINT} tag r{rank} 200 & " for rank in reversed(range(4))) + "wait"
        seen, _ = self.pin("sh", "-c", script)
        self.assertEqual(seen, {f"r{rank}": relative(rank) for rank in range(4)})

    def test_real_ranks_around_and_inside_the_launcher(self):
        mpirun = shutil.which("mpirun")
        if not mpirun or "Open MPI" not in subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout:
            self.skipTest("needs Open MPI")
        launch = [mpirun, "--mca", "btl", "self,vader", "--mca", "plm", "isolated", "--oversubscribe",
                  "--bind-to", "core" if len(ALLOWED) > 1 else "none", "-n", "2"]
        program = ["sh", "-c", f"{PRINT} tag r$OMPI_COMM_WORLD_LOCAL_RANK"]
        backwards = ["--list", ",".join(map(str, reversed(range(len(ALLOWED)))))]
        expected = {"r0": relative(-1), "r1": relative(-2)}
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
        around, _ = self.pin(*launch, *program, options=backwards, environment=root)
        self.assertEqual(around, expected)
        inside = subprocess.run([*launch, PLUMB, "pin", *backwards, "--", *program], capture_output=True, text=True,
                                timeout=60, env={**os.environ, **root})
        self.assertEqual(dict(line.split(": ") for line in inside.stdout.splitlines()), expected, inside.stderr)
        self.assertEqual(inside.stderr.count("this job may use"), 1)  # one table, not one a rank

    def test_processes_with_several_threads_own_blocks(self):
        script = f"{PRINT} tag a 300 & {PRINT} tag b 300 & wait"
        width = len(ALLOWED) - 1
        if width < 1:
            self.skipTest("needs two CPUs")
        seen, _ = self.pin("sh", "-c", script, options=("--list", everywhere_relative(), "--threads-per-process", str(width)))
        self.assertEqual(seen, {"a": relative(0), "b": relative(width)})

    def test_a_static_program_is_confined_as_a_whole_and_that_is_said(self):
        seen, table = self.pin(PROGRAMS / "print_affinity_static", options=("--list", "0"))
        self.assertEqual(seen, {"main": relative(0)})
        self.assertIn("static", table)
        self.assertIn("the whole process is pinned", table)

    def test_binding_memory_changes_nothing_else(self):
        for how in ("--bind-memory", "--bind-memory=strict"):
            seen, table = self.pin(PRINT, "threads", "2", options=("--list", "0", how))
            self.assertEqual(set(seen.values()), {relative(0)})
            self.assertRegex(table, r"memory on node \d|memory not bound")

    def test_openmp_is_told_how_many_threads_there_are(self):
        def told(**environment):
            done = subprocess.run([PLUMB, "pin", "-q", "--list", "0,0,0", "--", "sh", "-c", "echo $OMP_NUM_THREADS"],
                                  capture_output=True, text=True, timeout=60, env={**clean, **environment})
            return done.stdout.strip()
        clean = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
        self.assertEqual(told(), "3")
        self.assertEqual(told(OMP_NUM_THREADS="2"), "2")

    def test_exit_status_and_streams_are_the_programs(self):
        done = subprocess.run([PLUMB, "pin", "-q", "--compact", "--", "sh", "-c", "cat; echo err >&2; exit 7"],
                              input="text", capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (7, "text", "err\n"))
        done = subprocess.run([PLUMB, "pin", "-q", "--", "sh", "-c", "kill -TERM $$"], timeout=60)
        self.assertEqual(done.returncode, 128 + signal.SIGTERM)

    def test_failures_of_the_launch(self):
        for command, status in (("/nonexistent/program", 127), ("/etc/passwd", 126)):
            _, text = self.pin(command, status=status)
            self.assertIn(command, text)
        _, text = self.pin(PRINT, options=("--list", "9999"), status=125)
        self.assertIn("no relative CPU 9999", text)
        _, text = self.pin(PRINT, options=("--list", "1-"), status=125)
        self.assertIn("'1-'", text)

    def test_signals_reach_the_program(self):
        process = subprocess.Popen([PLUMB, "pin", "-q", "--", "sh", "-c",
                                    "trap 'echo got; exit 5' USR1; echo ready; while :; do sleep 0.05; done"],
                                   stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.communicate(timeout=30)[0], "got\n")
        self.assertEqual(process.returncode, 5)

    def test_the_table_leaves_nothing_behind(self):
        self.pin(PRINT, environment={"TMPDIR": str(self.scratch)})
        self.assertEqual(list(self.scratch.iterdir()), [])

class RunPinTest(PlumbTest):
    def test_plumb_run_pins_like_plumb_pin(self):
        last = len(ALLOWED) - 1
        done = self.record(PRINT, "threads", "2", options=("-q", "--no-report", "--pin", f"list:{last},0"), check=0)
        self.assertEqual(done.stdout, f"main: {relative(last)}\nthread 0: {relative(0)}\nthread 1: {relative(last)}\n")

    def test_a_static_program_is_confined(self):
        done = self.record(PROGRAMS / "print_affinity_static", options=("-q", "--no-report", "--pin=list:0"), check=0)
        self.assertEqual(done.stdout, f"main: {relative(0)}\n")

    def test_nonsense_is_refused_before_the_program_starts(self):
        done = self.record(PRINT, options=("--pin=tight",), check=125)
        self.assertEqual(done.stdout, "")
        self.assertIn("'tight'", done.stderr)


def everywhere_relative():
    return "0-%d" % (len(ALLOWED) - 1)


if __name__ == "__main__":
    unittest.main()
