#!/usr/bin/env python3
"""plumb simulate: its forms, its options, and what it says of input that cannot be meant."""

import json
import os
import pathlib
import subprocess
import unittest

from plumb_test import PLUMB, PlumbTest, TREE

PUBLISHED = TREE / "examples" / "missing-half" / "before.json"
SMALL = ["--ranks", "256", "--cycles", "200", "--seeds", "3"]


def simulate(*arguments):
    return subprocess.run([PLUMB, "simulate", *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"})


class Complaints(PlumbTest):
    def refused(self, *arguments, says, noise=PUBLISHED):
        done = simulate("--noise", noise, *arguments)
        self.assertEqual(done.returncode, 125, done.stdout)
        self.assertEqual(done.stdout, "")
        self.assertIn(says, done.stderr)
        self.assertLessEqual(len(done.stderr.strip().splitlines()), 2, done.stderr)

    def test_jobs_that_cannot_be(self):
        self.refused("--ranks", 0, says="a job of 0 ranks")
        self.refused("--ranks", 16, "--per-node", 5, says="5 ranks on a node with 4 CPUs")
        self.refused("--ranks", 16, "--cycles", 0, says="0 cycles")
        self.refused("--ranks", 16, "--cpus-per-node", 2, "--per-node", 3, says="3 ranks on a node with 2 CPUs")
        self.refused("--ranks", 20_000_000, says="16.8 M are the most")

    def test_options_that_cannot_be_meant(self):
        self.refused("--ranks", 16, "--without", "foo", says="Classes: heartbeat")
        self.refused("--ranks", 16, "--without", "node=32/32", says="32 is not below 32")
        self.refused("--ranks", 16, "--without", "node=two", says="--without node=two: node=K is needed, for node K alone, or node=K/N")
        self.refused("--ranks", 16, "--without", "node=4", says="the job runs on nodes 0 to 3")
        self.refused("--ranks", 16, "--granularity", "3", says="a time with its unit")
        self.refused("--ranks", 16, "--granularity", "1ms,-1ms", says="a time with its unit")
        self.refused("--ranks", 4096, "--scale", "2x,8192x", says="--scale 8192x")
        self.refused("--ranks", 4096, "--scale", "0x", says="--scale 0x")
        self.refused("--ranks", 16, "--cpus-per-node", 5, "--spare-cpu", "--per-node", 4, says="spare already")

    def test_noise_that_cannot_be(self):
        file = self.scratch / "classes.json"
        self.refused("--ranks", 16, noise=self.scratch / "none.json", says="No such file")
        for entry, says in ({"period_ms": -1, "duration_ms": 1}, "period_ms"), ({"period_ms": 1, "duration_ms": -2}, "duration_ms"), \
                ({"period_ms": 10, "duration_ms": 9.9, "scope": "cpu"}, "99 %"), \
                ({"period_ms": 10, "duration_ms": 1, "cpus": [7]}, "CPU 7"):
            file.write_text(json.dumps({"schema": "plumb-noise/1", "cpus_per_node": 4, "classes": [{"name": "a", **entry}]}))
            self.refused("--ranks", 16, noise=file, says=says)

    def test_where_it_cannot_write(self):
        self.refused(*SMALL, "--granularity", "1ms", "-o", self.scratch / "no" / "file", says="No such file or directory")


class RecordedRuns(PlumbTest):
    """What a recorded MPI job gives is tested with examples/noisy-neighbour."""

    def refused(self, *arguments, says):
        done = simulate(*arguments)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(says, done.stderr)

    def test_runs_that_cannot_be_simulated(self):
        self.record("true", options=["--no-report"])
        self.refused(self.run_directory, says="this run has no MPI job to simulate. plumb run mpirun PROGRAM records one")
        self.refused(self.scratch / "none", says="No such file or directory")

    def test_options_of_jobs_that_were_not_recorded(self):
        self.refused("RUN", "--ranks", 4, says="excludes")
        self.refused("RUN", "--per-node", 4, says="excludes")
        self.refused("RUN", "--collective", "halo2", says="excludes")
        self.refused("RUN", "--imbalance", 4, says="excludes")

    def test_nothing_to_simulate(self):
        self.refused(says="what is to be simulated?")
        self.refused("--noise", PUBLISHED, says="--ranks N")


class Forms(PlumbTest):
    def follows_the_schema(self, document):
        try:
            import jsonschema
        except ImportError:
            return # the golden tests say so
        schema = json.loads(pathlib.Path(os.environ["PLUMB_SIMULATION_SCHEMA"]).read_text())
        jsonschema.Draft7Validator(schema).validate(document)

    def test_text_fits_its_width(self):
        done = simulate("--noise", PUBLISHED, *SMALL, "--scale", "2x")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in ("256 ranks, 4 on each of 64 nodes", "not measured:", "without all of kernel", "all together", "512"):
            self.assertIn(part, done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)

    def test_json_says_the_same_in_a_file_and_twice(self):
        file = self.scratch / "simulation.json"
        arguments = ["--noise", PUBLISHED, *SMALL, "--without", "heartbeat", "--without", "node=0/32", "--format", "json"]
        self.assertEqual(simulate(*arguments, "-o", file).returncode, 0)
        self.assertEqual(simulate(*arguments).stdout, file.read_text())
        document = json.loads(file.read_text())
        self.follows_the_schema(document)
        self.assertEqual(document["schema"], "plumb-simulation/1")
        self.assertEqual({change["change"] for change in document["granularities"][0]["changes"]},
                         {"without heartbeat", "not on node 0 of 32"})
        self.assertTrue(any(one["fitted"] for one in document["noise"]["classes"]))
        for at in document["granularities"]:
            self.assertGreater(at["cycle_seconds"]["mean"], at["quiet_cycle_seconds"])
            self.assertAlmostEqual(sum(one["fraction"] for one in at["lost_to_classes"]), 1)

    def test_a_single_node_is_left_out(self):
        arguments = ["--noise", PUBLISHED, *SMALL, "--granularity", "1ms", "--without", "node=1", "--without", "node=0/32", "--scale", "2x"]
        document = json.loads(simulate(*arguments, "--format", "json").stdout)
        self.follows_the_schema(document)
        changes = document["granularities"][0]["changes"]
        self.assertEqual({change["change"] for change in changes}, {"not on node 1", "not on node 0 of 32"})
        self.assertIn("not on node 1  ", simulate(*arguments).stdout)

    def test_a_spare_cpu_and_neighbours(self):
        done = simulate("--noise", PUBLISHED, *SMALL, "--granularity", "1ms", "--spare-cpu", "--collective", "halo2")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("one CPU a node spare", done.stdout)
        self.assertNotIn("What makes the last rank late", done.stdout) # there is no one last rank


if __name__ == "__main__":
    unittest.main()
