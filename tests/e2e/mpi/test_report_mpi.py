#!/usr/bin/env python3
"""Reports of MPI jobs that were made up by a stated pattern say what is true of it (tools/make_mpi_run.cpp)."""

import json
import os
import subprocess
import unittest

from plumb_test import PLUMB, PlumbTest

MAKE = os.environ["PLUMB_MAKE_MPI_RUN"]


class ReportOfKnownTruth(PlumbTest):
    def make(self, *options, ranks=32, ranks_per_node=32, collectives=300, name="run"):
        run = self.scratch / name
        done = subprocess.run([MAKE, run, "--ranks", str(ranks), "--ranks-per-node", str(ranks_per_node),
                               "--collectives", str(collectives), *options],
                              capture_output=True, text=True, check=True)
        return run, json.loads(done.stdout)

    def job_of(self, run):
        document = self.report(run)
        self.assertEqual(document["run"]["mpi"], "MPICH")
        self.assertEqual(len(document["mpi_jobs"]), 1)
        self.assertEqual(document["run"]["ranks"], document["mpi_jobs"][0]["size"])
        return document["mpi_jobs"][0]

    def assert_near(self, found, true, part=1e-3):
        self.assertLess(abs(found - true), part * abs(true) + 1e-6, f"{found} is not {true}")

    def assert_true(self, job, truth):
        for name, key in (("wait_seconds", "wait_s"), ("operation_seconds", "operation_s"),
                          ("imbalance_seconds", "imbalance_s"), ("elapsed_seconds", "elapsed_s")):
            with self.subTest(name):
                self.assert_near(job[name], truth[key])

    def test_one_late_rank(self):
        run, truth = self.make("--late", "11:30", "--jitter", "0.05")
        job = self.job_of(run)
        self.assert_true(job, truth)
        latest = max(job["ranks"], key=lambda rank: rank["caused_wait_seconds"])
        self.assertEqual((latest["rank"], latest["times_last"]), (truth["most_often_last"], truth["times_last"]))
        self.assertEqual(latest["rank"], 11)
        text = subprocess.run([PLUMB, "report", run, "--full"], capture_output=True, text=True, check=True).stdout
        self.assertIn("MPI: 32 ranks, MPICH", text)
        self.assertIn("Rank 11 came last to 300 of 300 collectives", text)

    def test_one_host_always_last(self):
        """Nothing bounds its clock from one side but the length of the others' waiting."""
        run, truth = self.make("--late", "11:30", "--jitter", "0.05", ranks_per_node=4)
        job = self.job_of(run)
        self.assertEqual(job["hosts"], 8)
        self.assert_true(job, truth)

    def test_all_ranks_of_a_node_are_late(self):
        late = [word for rank in range(8, 12) for word in ("--late", f"{rank}:20")]
        run, truth = self.make(*late, "--jitter", "0.05", ranks_per_node=4)
        _, cured = self.make("--jitter", "0.05", ranks_per_node=4, name="cured")
        [finding] = self.findings(self.report(run), "mpi-late-rank")
        self.assertEqual((finding["subject"]["kind"], finding["subject"]["name"]), ("ranks", "8-11"))
        self.assertIn("28 ranks wait for ranks 8-11 (node ", finding["title"])
        self.assert_near(finding["cost"]["seconds"], truth["elapsed_s"] - cured["elapsed_s"], 0.05)
        self.assertEqual(finding["evidence"]["late_ranks"], [8, 9, 10, 11])

    def test_noise_everywhere_makes_nobody_stand_out(self):
        run, truth = self.make("--noise", "0.01:0.0005:all", "--jitter", "0.01")
        job = self.job_of(run)
        self.assert_true(job, truth)
        most = max(rank["caused_wait_seconds"] for rank in job["ranks"])
        self.assertLess(most, 0.5 * job["wait_seconds"])
        self.assertGreater(truth["wait_s"], 0)

    def test_halo_of_a_late_rank(self):
        run, truth = self.make("--late", "11:30", "--halo", "4096")
        job = self.job_of(run)
        self.assert_true(job, truth)
        self.assert_near(job["late_sender_seconds"], truth["late_sender_s"], 0.05)
        sent = sum(place[3] for place in job["matrix"]["places"])
        self.assertEqual(sent, 32 * 300 * 2 * 4096)
        self.assertEqual(job["messages"]["unmatched_ends"], 0)

    def test_cycles(self):
        run, truth = self.make("--noise", "0.01:0.0005:all", "--jitter", "0.01")
        cycles = self.job_of(run)["cycles"]
        self.assertEqual((cycles["call"], cycles["count"], cycles["period"], cycles["drifts"]), ("MPI_Allreduce", 299, 1, False))
        self.assert_near(sum(point[1] * point[5] for point in cycles["series"]), 299 * cycles["mean_seconds"])
        self.assertEqual(sum(count for _, _, count in cycles["histogram"]), 299)
        self.assert_near(sum(cycles["mean_parts"].values()), cycles["mean_seconds"])
        lost = cycles["mean_seconds"] - cycles["attainable_seconds"]
        self.assert_near(sum(cycles["loss_parts"].values()), lost)
        self.assertGreater(cycles["loss_parts"]["imbalance_seconds"], 0.9 * lost)  # busy for longer than the others, each time another one
        self.assertLessEqual(cycles["least_seconds"], cycles["tenth_seconds"])
        self.assertLess(cycles["tenth_seconds"], cycles["mean_seconds"])
        self.assertEqual(self.findings(self.report(run), "cycle-variation"), [])

    def with_model(self, run, text, *options):
        model = self.scratch / "model"
        model.write_text(text)
        return subprocess.run([PLUMB, "report", run, "--model", model, *options], capture_output=True, text=True)

    def test_model(self):
        run, _ = self.make("--jitter", "0.01")
        mean = self.job_of(run)["cycles"]["mean_seconds"]
        table = f"ranks,seconds_per_cycle\n16,{mean * 4}\n64,{mean / 4}\n"  # 32 ranks: as measured
        done = self.with_model(run, table, "--format", "json")
        expectation = json.loads(done.stdout)["mpi_jobs"][0]["expectation"]
        self.assert_near(expectation["expected_seconds"], mean)
        self.assert_near(expectation["ratio"], 1)
        self.assertIsNone(expectation["change"])
        for full in ((), ("--full",)):
            text = " ".join(self.with_model(run, f"{mean * 16}/ranks", *full).stdout.split())
            self.assertIn(", 2.00 times as much. No change of this in the course of the run is significant.", text)
        beyond = " ".join(self.with_model(run, "2,4\n8,1\n").stdout.split())
        self.assertIn("from 2 to 8 ranks, and nothing beyond is guessed", beyond)

    def test_bad_models(self):
        run, _ = self.make(collectives=20)
        for text, words in (("2,4\nmany,1\n", 'model, line 2: "many" is not a number of ranks'), ("8/nodes", 'line 1: column 3: "nodes"'),
                            ("", "holds neither rows"), ("2,4\n8,-1\n", "seconds above 0")):
            done = self.with_model(run, text)
            self.assertEqual((done.returncode, done.stdout), (125, ""), done.stderr)
            self.assertIn(words, done.stderr)
        done = subprocess.run([PLUMB, "report", run, "--model", self.scratch / "missing"], capture_output=True, text=True)
        self.assertIn("missing: No such file", done.stderr)

    def test_thinned_events_keep_the_sum(self):
        run, truth = self.make("--late", "1:30", ranks=4, collectives=70_000)
        job = self.job_of(run)
        self.assertEqual(job["collectives"]["stride"], 4)
        for name, key in (("wait_seconds", "wait_s"), ("operation_seconds", "operation_s")):
            self.assert_near(job[name], truth[key], 0.01)

    def test_same_options_same_bytes(self):
        files = []
        for name in ("one", "two"):
            run, _ = self.make("--jitter", "0.1", "--seed", "7", ranks=3, collectives=20, name=name)
            files.append([path.read_bytes() for path in sorted(run.glob("*.plumb"))])
        self.assertEqual(len(files[0]), 3)
        self.assertEqual(files[0], files[1])


if __name__ == "__main__":
    unittest.main()
