#!/usr/bin/env python3
"""plumb topo on made-up jobs whose best order is known, on networks of given files, and on input that cannot be meant."""

import json
import os
import pathlib
import subprocess
import unittest

from plumb_test import PLUMB, PlumbTest, breaches

MAKE_RUN = os.environ["PLUMB_MAKE_MPI_RUN"]
RANKS, PER_NODE, MESSAGE_BYTES = 512, 8, 1_000_000
TORUS = {"schema": "plumb-topology/1", "torus": {"dimensions": [{"size": 4}, {"size": 4}, {"size": 4}], "names": "node{index:05}"}}
# Case of a machine whose cabinets are numbered by where they stand, and joined by cables that skip every other one.
CABLE = [0, 2, 4, 6, 8, 10, 9, 7, 5, 3, 1]
CABINETS = {"schema": "plumb-topology/1",
            "torus": {"dimensions": [{"name": "x", "size": 11, "wiring": CABLE}, {"name": "y", "size": 10},
                                     {"name": "z", "size": 19, "wraps": False}], "names": "c{x}-{y}n{z}"}}


def topo(*arguments):
    return subprocess.run([PLUMB, "topo", *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"})


class TopoTest(PlumbTest):
    def made(self, *options, ranks=RANKS, per_node=PER_NODE):
        run = self.scratch / f"run{len(list(self.scratch.iterdir()))}"
        subprocess.run([MAKE_RUN, "--ranks", str(ranks), "--ranks-per-node", str(per_node), "--collectives", "1", *map(str, options), run],
                       check=True, stdout=subprocess.DEVNULL)
        return run

    def file(self, name, content):
        path = self.scratch / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    def study(self, *arguments):
        done = topo(*arguments, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        document = json.loads(done.stdout)
        self.assertEqual(breaches(document, "topology"), [])
        return document


class Orders(TopoTest):
    def placed(self, pattern, shuffle=3, topology=TORUS):
        run = self.made("--matrix", pattern, "--shuffle", shuffle)
        return run, self.study(run, "--topology", self.file("network.json", topology), "--time", "20s")

    def test_blocks_of_a_torus_come_back(self):
        run, study = self.placed("torus:8x8x8")
        self.assertEqual(study["shape"]["kind"], "grid")
        self.assertEqual(sorted(study["shape"]["sizes"]), [8, 8, 8])
        bytes_sent = RANKS * 6 * MESSAGE_BYTES
        self.assertEqual(study["now"]["bytes"], bytes_sent)
        # The best: each node a block of 2 x 2 x 2, of whose messages half go to the next node.
        best = bytes_sent / 2
        self.assertLessEqual(study["better"]["link_bytes"], 1.05 * best)
        self.assertLessEqual(study["better"]["leaving_bytes"], 1.05 * best)
        self.assertGreater(study["now"]["link_bytes"], 4 * best)

    def test_a_plane_and_a_transpose(self):
        for pattern, kind, at_most in ("halo:32x16", "grid", 0.35), ("transpose:16x32", "rows-and-columns", 0.95):
            with self.subTest(pattern):
                run, study = self.placed(pattern)
                self.assertEqual(study["shape"]["kind"], kind)
                self.assertLess(study["better"]["link_bytes"], at_most * study["now"]["link_bytes"])
                self.assertLess(study["better"]["leaving_bytes"], study["now"]["leaving_bytes"])

    def test_random_messages_are_not_made_worse(self):
        run, study = self.placed("random:4")
        self.assertEqual(study["shape"]["kind"], "irregular")
        if study["better"]:
            self.assertLessEqual(study["better"]["link_bytes"], study["now"]["link_bytes"])

    def test_an_order_that_is_best_stays(self):
        run = self.made("--matrix", "halo:8x64", ranks=512, per_node=512)
        done = topo(run)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("no message leaves a node", done.stdout)

    def test_files_for_launchers_do_what_was_promised(self):
        run = self.made("--matrix", "halo:16x16", "--shuffle", 5, ranks=256, per_node=16)
        network = self.file("network.json", TORUS)
        promised = self.study(run, "--topology", network)["better"]
        for form, name in ("slurm", "slurm.txt"), ("rankfile", "rankfile.txt"), ("hostfile", "hostfile.txt"), ("mpich-rank-order", "order"):
            with self.subTest(form):
                written = self.scratch / name
                done = topo(run, "--topology", network, "--reorder", form, "--order-file", written)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(str(written), done.stdout)
                hosts = self.hosts_of(form, written.read_text().split("\n")[:-1])
                self.assertEqual(hosts, promised["host_of_rank"])
                again = self.study(run, "--topology", network, "--nodes", self.file("hosts", "\n".join(hosts) + "\n"))
                self.assertEqual(again["now"]["link_bytes"], promised["link_bytes"])

    def hosts_of(self, form, lines):
        """Of each rank, as the launcher would place it; the recorded one gave blocks of 16 to each node."""
        if form == "slurm":
            return lines
        if form == "rankfile":
            slots = [line.split()[1] for line in lines]  # rank 0=node00000 slot=0
            self.assertEqual(len({(line.split("=")[1], line.split()[-1]) for line in lines}), len(lines))
            return [slot.split("=")[1] for slot in slots]
        if form == "hostfile":
            return [host for line in lines for host in [line.split(":")[0]] * int(line.split(":")[1])]
        ranks = [int(rank) for line in lines for rank in line.split(",") if rank]
        self.assertEqual(sorted(ranks), list(range(len(ranks))))
        place = {rank: slot for slot, rank in enumerate(ranks)}
        return [f"node{place[rank] // 16:05}" for rank in range(len(ranks))]


class Cabinets(TopoTest):
    """1,024 ranks that transpose, on six cabinets with numbers in a row, and on six in a row along the cable."""

    def nodes(self, cabinets):
        return self.file("nodes", "\n".join([f"c{x}-{y}n{z}" for x in cabinets for z in range(19) for y in range(10)][:1024]))

    def test_the_order_of_the_cable_takes_less(self):
        run = self.made("--matrix", "transpose:32x32", ranks=1024, per_node=1)
        network = self.file("cabinets.json", CABINETS)
        # 3 to 8 are two pieces of the cable: 9 7 5 3 and 4 6 8. From cabinet 0 on, numbers and cable agree: 5 3 1 0 2 4.
        by_number = self.study(run, "--topology", network, "--nodes", self.nodes(range(3, 9)), "--time", "10s")
        by_cable = self.study(run, "--topology", network, "--nodes", self.nodes(CABLE[:6]), "--time", "10s")
        for study in by_number, by_cable:
            self.assertEqual(study["allocation"]["nodes"], 1024)
            self.assertGreater(study["now"]["busiest_links"][0]["bytes"], 0)
        self.assertGreater(by_number["now"]["link_bytes"], 1.05 * by_cable["now"]["link_bytes"])
        self.assertEqual((by_number["allocation"]["pieces"], by_cable["allocation"]["pieces"]), (2, 1))
        timed = self.file("timed.json", {**CABINETS, "hop_s": 1e-6})
        said = " ".join(topo(run, "--topology", timed, "--nodes", self.nodes(CABLE[:6]), "--time", "1s").stdout.split())
        self.assertIn(f"At 1.00 us a link a message is on its way for {by_cable['now']['links_of_a_message']:.3g} us on average", said)
        self.assertLessEqual(by_number["better"]["link_bytes"], by_number["now"]["link_bytes"])

    def test_a_job_that_was_not_recorded(self):
        done = topo("--topology", self.file("cabinets.json", CABINETS), "--nodes", self.nodes([0, 3, 6, 9, 1, 4]))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("1,024 nodes in 3 pieces", done.stdout)
        self.assertIn("2,090 nodes", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)


class Complaints(TopoTest):
    def refused(self, *arguments, says):
        done = topo(*arguments)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(says, done.stderr)
        self.assertLessEqual(len(done.stderr.strip().splitlines()), 2, done.stderr)

    def test_networks_that_cannot_be(self):
        self.refused("--topology", self.scratch / "none", says="No such file")
        self.refused("--topology", self.file("a", "hello\n"), says="no network that plumb can read")
        self.refused("--topology", self.file("b", "SwitchName=s0 Nodes=a\nSwitchName=s0 Nodes=b\n"), says="line 2: switch s0 is described twice")
        ring = "SwitchName=leaf Nodes=n[0-3]\nSwitchName=one Switches=leaf,two\nSwitchName=two Switches=one\n"
        self.refused("--topology", self.file("c", ring), says="is below itself")
        self.assertRegex(topo("--topology", self.scratch / "c").stderr, r"line 2: switch one|line 3: switch two")
        self.refused("--topology", self.file("d", "SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b\n"), says="nothing joins")
        wiring = {"schema": "plumb-topology/1", "torus": {"dimensions": [{"size": 4, "wiring": [0, 1, 1, 3]}], "names": "n{x}"}}
        self.refused("--topology", self.file("e", wiring), says="wiring")
        cables = {"schema": "plumb-topology/1", "switches": [{"name": "a", "nodes": "n", "up": [{"to": "b", "cables": 0}]}, {"name": "b"}]}
        self.refused("--topology", self.file("f", cables), says="by 0 cables")
        huge = {"schema": "plumb-topology/1", "dragonfly": {"groups": 4_000_000, "rows": 4_000_000, "columns": 1_048_576, "nodes_per_router": 1}}
        self.refused("--topology", self.file("g", huge), says="or to more than 4000000")
        twice = {"schema": "plumb-topology/1", "torus": {"dimensions": [{"size": 2}], "nodes": [["n", 0], ["n", 1]]}}
        self.refused("--topology", self.file("h", twice), says="two nodes are called n")

    def test_a_network_of_other_nodes(self):
        run = self.made("--halo", 1000, ranks=32, per_node=4)
        other = {"schema": "plumb-topology/1", "torus": {"dimensions": [{"size": 8}], "names": "nid{index:05}"}}
        self.refused(run, "--topology", self.file("other", other), says="does not have 8 of the job's nodes: node00000")

    def test_lists_that_do_not_fit(self):
        run = self.made("--halo", 1000, ranks=32, per_node=4)
        self.refused(run, "--nodes", "n[1-7]", says="must have one for each rank")
        self.refused(run, "--nodes", "n[1-", says="a bracket is not closed")
        self.refused(run, "--nodes", "launcher", says="SLURM_JOB_NODELIST")

    def test_runs_without_messages_between_ranks(self):
        self.record("true", options=["--no-report"])
        self.refused(self.run_directory, says="this run has no MPI job")
        self.refused(says="what is to be looked at?")
        run = self.made(ranks=8, per_node=4)
        done = topo(run)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("no messages from rank to rank were recorded", done.stdout)


class RankOrderFinding(TopoTest):
    """mpi-rank-order where a better order brings ranks together and the job gains nothing. Where it does, see examples/rank-order."""

    def test_a_ring_whose_slowest_rank_stays_as_it_is(self):
        # All meet after each exchange. In blocks of 2 every rank has a neighbour on another host, in blocks of 8 a fourth of them, for
        # which the others wait.
        elapsed = []
        for block in 2, 8:
            run = self.scratch / f"ring{block}"
            made = subprocess.run([MAKE_RUN, "--ranks", "64", "--ranks-per-node", "8", "--collectives", "200", "--halo", "1000", "--latency",
                                   "4e-4", "--within-latency", "1e-5", "--block", str(block), run], check=True, capture_output=True, text=True)
            elapsed.append(json.loads(made.stdout)["elapsed_s"])
            done = subprocess.run([PLUMB, "report", run, "--format", "json", "--only", "mpi-rank-order"], check=True, capture_output=True,
                                  text=True)
            # What the cable between two hosts costs is not known of a run: the order is noted, and no gain is promised.
            findings = json.loads(done.stdout)["findings"]
            self.assertEqual([(finding["severity"], finding["gain"]["fraction"]) for finding in findings], [("info", 0)] if block == 2 else [])
        self.assertAlmostEqual(elapsed[0], elapsed[1], delta=0.01 * elapsed[0])
        study = self.study(self.scratch / "ring2")
        self.assertAlmostEqual(study["now"]["leaving_bytes"] / study["now"]["bytes"], 0.5)
        self.assertAlmostEqual(study["better"]["leaving_bytes"] / study["now"]["bytes"], 0.125)


class Inside(TopoTest):
    NODE = "pack:2 numa:2 l3:2 core:4 pu:1"  # 8 last-level caches of 4 cores

    def test_ranks_that_talk_come_under_one_cache(self):
        run = self.made("--matrix", "halo:8x8", "--shuffle", 5, ranks=64, per_node=32)
        study = self.study(run, "--inside", "--topology", self.NODE)
        self.assertIn("2 hosts: 4 packages, 8 NUMA nodes, 16 last-level caches", study["network"]["description"])
        self.assertEqual(study["allocation"]["nodes"], 16)
        bytes_sent = 2 * (2 * 8 * 7) * MESSAGE_BYTES
        self.assertEqual(study["now"]["bytes"], bytes_sent)
        # The best: a block of 2 x 2 in each cache, of whose 16 outgoing messages 8 stay; at the edges more.
        best_leaving = bytes_sent - 16 * 8 * MESSAGE_BYTES
        self.assertLessEqual(study["better"]["leaving_bytes"], 1.05 * best_leaving)
        self.assertLess(study["better"]["link_bytes"], 0.6 * study["now"]["link_bytes"])
        self.assertTrue(any("is not known" in note for note in study["notes"]), study["notes"])

    def test_the_rankfile_names_cores(self):
        run = self.made("--matrix", "halo:4x4", "--shuffle", 5, ranks=16, per_node=16)
        order = self.scratch / "order.txt"
        done = topo(run, "--inside", "--topology", "pack:2 l3:2 core:4 pu:1", "--reorder", "rankfile", "--order-file", order)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = order.read_text().splitlines()
        self.assertEqual([line.split("=")[0] for line in lines], [f"rank {rank}" for rank in range(16)])
        self.assertEqual(sorted(line.split("slot=")[1] for line in lines), sorted(4 * ["0-3", "4-7", "8-11", "12-15"]))
        self.assertIn("last-level cache", done.stdout)

    def test_what_cannot_be(self):
        run = self.made("--matrix", "halo:4x4", ranks=16, per_node=16)
        for arguments, says in (([run, "--inside"], "was not recorded"), (["--inside", "--topology", self.NODE], "RUN"),
                                ([run, "--inside", "--topology", "pack:2 nonsense:3"], "nonsense"),
                                ([run, "--inside", "--topology", self.NODE, "--nodes", "a"], "--nodes"),
                                ([run, "--inside", "--topology", self.NODE, "--reorder", "slurm"], "rankfile")):
            done = topo(*arguments)
            self.assertEqual((done.returncode, done.stdout), (125, ""), done)
            self.assertIn(says, done.stderr)


class LinkRate(TopoTest):
    def test_of_ibstat_and_of_a_number(self):
        run = self.made("--matrix", "halo:8x8", "--shuffle", 5, ranks=64, per_node=8)
        ibstat = self.file("ibstat.txt", "CA 'mlx4_0'\n\tPort 1:\n\t\tState: Active\n\t\tRate: 40\n\t\tLink layer: InfiniBand\n")
        conf = self.file("topology.conf", "SwitchName=s0 Nodes=node[00000-00007]\n")
        for rate, says in (ibstat, "At 3.73 GiB a second"), ("32Gbit", "At 3.73 GiB a second"):
            done = topo(run, "--topology", conf, "--link-rate", rate)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(says, done.stdout)
        done = topo(run, "--topology", conf, "--link-rate", self.file("other.txt", "nothing"))
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn("ibstat", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
