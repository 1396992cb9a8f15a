#!/usr/bin/env python3
"""examples/rank-order on two hosts that are namespaces of this machine: what leaves the hosts, and the order that plumb topo writes,
given to the launchers of Open MPI and MPICH; and within one host, between two CPUs that are taken for caches."""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import unittest

from mpi_test import AS_ROOT
from plumb_test import PLUMB, PROGRAMS, PlumbTest

EXAMPLE = pathlib.Path(__file__).resolve().parents[3] / "examples" / "rank-order"
BUILT = pathlib.Path(PROGRAMS).parents[1] / "examples" / "rank-order"
TWO_HOSTS = EXAMPLE / "two-hosts.sh"
ENTER = str(EXAMPLE / "enter-host.sh")
OPENMPI = ["mpirun.openmpi", "--oversubscribe", "--mca", "plm_rsh_agent", ENTER, "--mca", "btl", "tcp,vader,self",
           "--mca", "btl_tcp_if_include", "cable", "--mca", "oob_tcp_if_include", "cable", "--mca", "mpi_yield_when_idle", "1",
           "--host", "node0:4,node1:4"]
MPICH = ["mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", ENTER, "-iface", "cable", "-n", "8"]
ENVIRONMENT = {**os.environ, **AS_ROOT}


def built(test, mpi):
    program = BUILT / f"plate.{mpi}"
    if not program.exists():
        test.skipTest(f"plate.{mpi} is not built here (no such compiler)")
    return program


class InsideOfAHost(PlumbTest):
    def test_where_each_rank_ran_was_recorded(self):
        program = built(self, "openmpi")
        if not shutil.which("mpirun.openmpi"):
            self.skipTest("mpirun.openmpi is not installed")
        cpus = sorted(os.sched_getaffinity(0))
        if len(cpus) < 2:
            self.skipTest("one CPU is no choice")
        # 4 x 2 squares, the left ones on one CPU, the right ones on another: 4 of 10 edges join the two, where 2 could.
        pinned = f'test $((OMPI_COMM_WORLD_RANK % 2)) = 0 && cpu={cpus[0]} || cpu={cpus[1]}; exec taskset -c $cpu "{program}" 1000'
        run, order = self.run_directory, self.scratch / "order.txt"
        done = subprocess.run([PLUMB, "run", "-q", "-o", run, "mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader", "-n", "8",
                               "sh", "-c", pinned], capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        caches = f"l3:{cpus[-1] + 1} core:1 pu:1"
        done = subprocess.run([PLUMB, "topo", run, "--inside", "--topology", caches, "--reorder", "rankfile", "--order-file", order,
                               "--format", "json"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        study = json.loads(done.stdout)
        self.assertAlmostEqual(study["now"]["leaving_bytes"] / study["now"]["bytes"], 0.4)
        self.assertAlmostEqual(study["better"]["leaving_bytes"] / study["now"]["bytes"], 0.2)
        slots = [int(line.split("slot=")[1]) for line in order.read_text().splitlines()]
        self.assertEqual({*map(len, (set(slots[:4]), set(slots[4:])))}, {1})
        self.assertEqual({*slots}, {*cpus[:2]})


class RankOrder(PlumbTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tried = subprocess.run([TWO_HOSTS, "hostname"], capture_output=True, text=True, timeout=60)
        if tried.returncode != 0 or tried.stdout != "node0\n":
            raise unittest.SkipTest(f"two hosts cannot be made here: {tried.stderr.strip().splitlines()[-1:]}")

    def on_two_hosts(self, *command):
        done = subprocess.run([TWO_HOSTS, *command], capture_output=True, text=True, timeout=300, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def recorded(self, name, launch, program, steps=60):
        run = self.scratch / name
        self.on_two_hosts(*launch, PLUMB, "run", "-q", "--no-report", "-o", run, "--", program, str(steps))
        done = subprocess.run([PLUMB, "topo", run, "--format", "json"], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return run, json.loads(done.stdout)

    def order_file(self, run, form):
        written = self.scratch / form
        done = subprocess.run([PLUMB, "topo", run, "--reorder", form, "--order-file", written], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return written

    def check(self, study):
        """Ranks in turns: of the 10 pairs of neighbours the 4 of a row are on different hosts. Their messages are as long as all others."""
        self.assertEqual(study["job"]["hosts"], ["node0", "node1"] * 4)
        self.assertEqual(study["shape"]["kind"], "grid")
        self.assertAlmostEqual(study["now"]["leaving_bytes"] / study["now"]["bytes"], 0.4)
        self.assertAlmostEqual(study["better"]["leaving_bytes"] / study["better"]["bytes"], 0.2)

    def test_the_order_that_open_mpi_is_given(self):
        program = built(self, "openmpi")
        run, study = self.recorded("turns", [*OPENMPI, "--map-by", "node"], program)
        self.check(study)
        _, after = self.recorded("ordered", [*OPENMPI, "--rankfile", self.order_file(run, "rankfile")], program)
        self.assertEqual(after["job"]["hosts"], study["better"]["host_of_rank"])
        self.assertEqual(after["now"]["leaving_bytes"], study["better"]["leaving_bytes"])
        self.assertIsNone(after["better"])

    def test_the_order_that_mpich_is_given(self):
        program = built(self, "mpich")
        turns = self.scratch / "turns.txt"
        turns.write_text("node0:1\nnode1:1\n" * 4)
        run, study = self.recorded("turns", [*MPICH, "-f", turns], program)
        self.check(study)
        _, after = self.recorded("ordered", [*MPICH, "-f", self.order_file(run, "hostfile")], program)
        self.assertEqual(after["job"]["hosts"], study["better"]["host_of_rank"])
        self.assertEqual(after["now"]["leaving_bytes"], study["better"]["leaving_bytes"])

    def test_the_report_names_it_and_the_order_is_faster(self):
        program = built(self, "openmpi")
        run, _ = self.recorded("turns", [*OPENMPI, "--map-by", "node"], program, steps=200)
        done = subprocess.run([PLUMB, "report", run, "--format", "json", "--only", "mpi-rank-order"], capture_output=True, text=True, timeout=300)
        report = json.loads(done.stdout)
        findings = report["findings"]
        self.assertEqual(report["mpi_jobs"][0]["hosts"], 2)
        self.assertEqual(report["mpi_jobs"][0]["clocks"]["error_seconds"], 0) # two names of one machine
        self.assertEqual(len(findings), 1, done.stdout[:2000])
        self.assertIn("40 % of the bytes that 8 ranks send to one another leave their host, and 20 %", findings[0]["title"])
        self.assertTrue(findings[0]["where"][0]["file"].endswith("plate.c"))
        ordered = ["--rankfile", self.order_file(run, "rankfile")]
        seconds = {"turns": [], "ordered": []}
        for _ in range(3):
            for name, options in ("turns", ["--map-by", "node"]), ("ordered", ordered):
                said = self.on_two_hosts(*OPENMPI, *options, program, "200")
                seconds[name].append(float(re.match(r"([\d.]+) s for 200 steps", said).group(1)))
        self.assertLess(statistics.median(seconds["ordered"]), 0.85 * statistics.median(seconds["turns"]), seconds)


if __name__ == "__main__":
    unittest.main(verbosity=2)
