"""Ranks inside a launcher: one run directory for all, one report. The launcher's variables stand in for a launcher."""

import json
import os
import shutil
import subprocess
import time
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest, may_run_as_nobody
from trace_reader import Trace

LAUNCHERS = {
    "openmpi": {"OMPI_COMM_WORLD_RANK": "{rank}", "OMPI_COMM_WORLD_SIZE": "{count}", "PMIX_NAMESPACE": "job@17"},
    "hydra": {"PMI_RANK": "{rank}", "PMI_SIZE": "{count}", "MPI_LOCALRANKID": "{rank}"},
    "slurm": {"SLURM_PROCID": "{rank}", "SLURM_NTASKS": "{count}", "SLURM_JOB_ID": "99", "SLURM_STEP_ID": "0"},
}


class Ranks(PlumbTest):
    def launch(self, variables, count, options, program, **popen):
        ranks = []
        for rank in range(count):
            environment = {**os.environ, **{name: value.format(rank=rank, count=count)
                                            for name, value in variables.items()}}
            ranks.append(subprocess.Popen([PLUMB, "run", *options, "--", *map(str, program)], env=environment,
                                          stderr=subprocess.PIPE, text=True, **popen))
        return [(rank.communicate()[1], rank.returncode) for rank in ranks]

    def test_shared_directory_and_one_report(self):
        program = self.scratch / "ranked"  # a name that nothing else on this machine has
        shutil.copy(PROGRAMS / "burn", program)
        for launcher, variables in LAUNCHERS.items():
            with self.subTest(launcher=launcher):
                run = self.scratch / launcher
                done = self.launch(variables, 3, ["-o", str(run)], [program, "0.5"])
                self.assertEqual([status for _, status in done], [0, 0, 0], done)
                self.assertEqual(sum("ranked" in text for text, _ in done), 1, "one report, from the last rank")
                state = json.loads((run / "run.json").read_text())
                self.assertEqual(state["state"], "finished")
                self.assertEqual(state["recorders"], {"expected": 3, "started": 3, "finished": 3})
                traces = [Trace(path) for path in run.glob("node-*.plumb")]
                self.assertEqual(len(traces), 3)
                watched = sorted((min(each["begin_ns"] for each in intervals), max(each["end_ns"] for each in intervals))
                                 for intervals in (trace.of("CpuInterval") for trace in traces) if intervals)
                self.assertTrue(watched, "nobody watches the node")
                for (_, end), (begin, _) in zip(watched, watched[1:]):  # who is left takes over from one that has ended
                    self.assertLessEqual(end, begin, "two watch the node at a time")
                others = {other["name"] for trace in traces for other in trace.of("OtherProcess")}
                self.assertNotIn("ranked", others, "a rank was taken for another program")

    def together(self, count, variables, directory):
        """`count` recorders of an unprivileged user without locked memory of its own, all alive at the same time; what they
        say of perf-sampling, and how many samples each took. `directory`: of a recorder, by its number."""
        self.scratch.chmod(0o777)
        line = f"trap 'exit 0' TERM; while [ ! -e {self.scratch}/go ]; do sleep 0.1; done; exec {PROGRAMS}/burn 0.1"
        unprivileged = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "prlimit", "--memlock=0:0"]
        ranks = [subprocess.Popen([*unprivileged, PLUMB, "run", "-q", "-o", str(directory(rank)), "--", "sh", "-c", line],
                                  env={**os.environ, **{name: value.format(rank=rank, count=count)
                                                        for name, value in variables.items()}})
                 for rank in range(count)]
        deadline = time.monotonic() + 120  # all at once: whoever ends gives its memory back
        while time.monotonic() < deadline and len(list(self.scratch.glob("**/process-*.plumb"))) < count:
            time.sleep(0.1)
        (self.scratch / "go").touch()
        self.assertEqual([rank.wait(timeout=120) for rank in ranks], [0] * count)
        traces = [Trace(path) for path in self.scratch.glob("**/node-*.plumb")]
        self.assertEqual(len(traces), count)
        return ([trace.evidence()["perf-sampling"] for trace in traces],
                [sum(site["samples"] for site in trace.of("SampleSite")) for trace in traces])

    @unittest.skipUnless(may_run_as_nobody(PLUMB), "needs root to become someone else, who can reach the tool")
    def test_ranks_of_a_full_node_all_have_samples(self):
        """Their rings share the memory that one user may lock, here no more than perf_event_mlock_kb."""
        variables = {**LAUNCHERS["openmpi"], "OMPI_COMM_WORLD_LOCAL_RANK": "{rank}", "OMPI_COMM_WORLD_LOCAL_SIZE": "{count}"}
        evidence, samples = self.together(48, variables, lambda rank: self.run_directory)
        self.assertEqual([why for state, why, _ in evidence if state not in (1, 2)], [])
        self.assertGreater(min(samples), 0)

    @unittest.skipUnless(may_run_as_nobody(PLUMB), "needs root to become someone else, who can reach the tool")
    def test_recorders_that_know_nothing_of_one_another(self):
        """Started by a shell's loop: the first leave room for the others."""
        evidence, samples = self.together(32, {}, lambda rank: self.scratch / f"run{rank}")
        self.assertEqual([why for state, why, _ in evidence if state not in (1, 2)], [])
        self.assertGreater(min(samples), 0)

    def test_default_name_is_the_jobs(self):
        self.launch(LAUNCHERS["openmpi"], 2, ["--no-report"], ["/bin/true"], cwd=self.scratch)
        self.assertEqual([path.name for path in self.scratch.glob("plumb-*")], ["plumb-true-openmpi-job_17"])

    def test_script_of_a_slurm_job_is_no_rank(self):
        """Slurm sets a task's variables in a job script, too: each run there is one of its own, with a report."""
        script = {"SLURM_PROCID": "0", "SLURM_NTASKS": "64", "SLURM_LOCALID": "0", "SLURM_JOB_ID": "1"}
        for step in ({}, {"SLURM_STEP_ID": "4294967291"}):
            for _ in range(2):
                (text, status), = self.launch({**script, **step}, 1, [], ["/bin/true"], cwd=self.scratch)
                self.assertEqual(status, 0, text)
                self.assertIn("plumb-true-", text, "no report")
        runs = [json.loads((run / "run.json").read_text()) for run in self.scratch.glob("plumb-true-*")]
        self.assertEqual([run["state"] for run in runs], 4 * ["finished"])

    @unittest.skipUnless(shutil.which("mpirun.mpich"), "MPICH is not installed")
    def test_mpich_in_a_slurm_job(self):
        """Ranks are of the launcher that started them, not of the job step around it."""
        step = {"SLURM_PROCID": "0", "SLURM_NTASKS": "64", "SLURM_JOB_ID": "1", "SLURM_STEP_ID": "0"}
        subprocess.run(["mpirun.mpich", "-launcher", "fork", "-rmk", "user", "-n", "2", PLUMB, "run", "--no-report", "--",
                        "/bin/true"], cwd=self.scratch, env={**os.environ, **step}, check=True)
        run, = self.scratch.glob("plumb-true-*")
        self.assertTrue(run.name.startswith("plumb-true-hydra-"), run.name)
        self.assertEqual(json.loads((run / "run.json").read_text())["recorders"], {"expected": 2, "started": 2, "finished": 2})

    @unittest.skipUnless(shutil.which("mpirun.mpich"), "MPICH is not installed")
    def test_scripts_between_launcher_and_plumb(self):
        """Hydra names no job: its ranks are known by their common ancestor."""
        begin = f"{PLUMB} run --no-report -- /bin/true"
        for _ in range(2): # and once more in the same folder: another job
            subprocess.run(["mpirun.mpich", "-n", "3", "sh", "-c", f"sh -c '{begin}; true'; true"], cwd=self.scratch, check=True)
        states = [json.loads((run / "run.json").read_text()) for run in self.scratch.glob("plumb-true-*")]
        self.assertEqual([state["recorders"] for state in states], 2 * [{"expected": 3, "started": 3, "finished": 3}])

    def test_a_run_all_of_whose_ranks_have_come_takes_no_more(self):
        for _ in range(2):
            self.launch(LAUNCHERS["openmpi"], 2, ["--no-report"], ["/bin/true"], cwd=self.scratch)
        self.assertEqual(sorted(path.name for path in self.scratch.glob("plumb-*")),
                         ["plumb-true-openmpi-job_17", "plumb-true-openmpi-job_17-2"])

    def test_status_of_the_failing_rank(self):
        done = self.launch(LAUNCHERS["openmpi"], 2, ["-o", str(self.run_directory), "--no-report"],
                           ["sh", "-c", "exit $OMPI_COMM_WORLD_RANK"])
        self.assertEqual([status for _, status in done], [0, 1])
        self.assertEqual(json.loads((self.run_directory / "run.json").read_text())["exit_status"], 1)

    def test_first_failing_rank_says_where_the_record_is(self):
        """Its launcher may kill the others, and with them the report."""
        done = self.launch(LAUNCHERS["openmpi"], 3, ["-o", str(self.run_directory)],
                           ["sh", "-c", "sleep 0.$OMPI_COMM_WORLD_RANK; test $OMPI_COMM_WORLD_RANK = 0 || exit 4; sleep 3"])
        self.assertEqual([status for _, status in done], [0, 4, 4])
        told = [text for text, _ in done if f"plumb report {self.run_directory}" in text and "exit status 4 before" in text]
        self.assertEqual(len(told), 1, done)
        self.assertNotIn("exit status 4 before", done[0][0], "it ended last: the report is its")


if __name__ == "__main__":
    unittest.main()
