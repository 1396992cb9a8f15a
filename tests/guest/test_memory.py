"""Where memory is and who reaches for it, on two nodes, against programs that know it themselves."""

import collections
import math
import shlex
import sys
import unittest

from guest_test import example, main, program
from machine import Machine, Node
from needy_test import ADVISED, NEEDY, SHELL, NeedyTest, marked_line, record_line, side_by_side
from trace_reader import Trace

SHARES, PARTS, KINDS = program("memory/node_shares"), program("memory/parts"), program("memory/kinds")
REFUSE = program("refuse")
RELAX, TRIAD, SPACED = example("left-behind/relax"), example("page-cache/triad"), example("memory-spacing/forecast-spaced")
HOT_TABLES = [path for path in (example("hot-table/hot-table-shared"), example("hot-table/hot-table-owned")) if path.exists()]

# Threads and data (node_shares.c); CPUs 0 and 1 are on node 0, CPUs 2 and 3 on node 1. One CPU is left to the recorder:
# in the emulation it has much to do.
ARRANGEMENTS = {
    "each-its-own": ["0:t=1", "1:t=1", "2:t=1"],
    "each-the-others": ["0:b1=1", "2:b0=1"],
    "one-node-for-all": ["0:b0=1", "1:b0=1", "2:b0=1"],
    "touched-by-one": ["0:t0=1", "2:t0=1"],
    "a-quarter": ["0:b0=3,b1=1", "2:b1=3,b0=1"],
    "a-little": ["0:t=1", "1:t=1", "2:t=9,b0=1"],
    "interleaved": ["0:i=1", "2:i=1"],
    "stores": ["0:b0=1w,b1=1w", "3:b1=1w"],
    "moved": ["0>2:t=1", "1:t=1"],
    "uneven": ["0:b1=2,t=3", "1:t=1", "3:b0=4,t=1"],
}
FEW_SAMPLES = 200      # fewer tell no share
STEADY = 0.05          # shares by time and by accesses differ by less where the guest's CPUs ran evenly
CACHED_MIB = 400       # of files: more than node 0 has free
FILL_CACHE = f"taskset 1 dd if=/dev/nvme1n1 of=/dev/null bs=1M count={CACHED_MIB} 2>/dev/null\n"


# The job's CPUs and nodes are changed while it runs, as a resource manager does; its pages stay.
CHANGE_CPUSET = f"""\
mkdir -p /tmp/cgroup && mount -t cgroup2 none /tmp/cgroup && echo +cpuset >/tmp/cgroup/cgroup.subtree_control &&
mkdir /tmp/cgroup/job && echo 0-1 >/tmp/cgroup/job/cpuset.cpus && echo 0-1 >/tmp/cgroup/job/cpuset.mems && {{
    sh -c 'echo $$ >/tmp/cgroup/job/cgroup.procs; exec $PLUMB run -q --no-report -o /results/cpuset -- \
        {NEEDY} 1.5 16 >/results/cpuset.out' &
    sleep 1; echo 2-3 >/tmp/cgroup/job/cpuset.cpus; wait
}}
"""


def arrangement(name, workers):
    arguments = " ".join(f"'{worker}'" for worker in workers)
    return (f"$PLUMB run -q --no-report --rate=1000 --budget=50 --call-graph=none -o /results/{name} -- "
            f"{SHARES} 1.2 {arguments} >/results/{name}.truth\n")


def record(run, options, *command):
    return f"$PLUMB run -q --no-report {options} -o /results/{run} -- {' '.join(map(str, command))} >/results/{run}.out\n"


class MemoryOnTwoNodes(NeedyTest):
    machine = Machine((Node(cpus=2, memory_mib=448), Node(cpus=2, memory_mib=576)), {(0, 1): 21, (1, 0): 21})
    files = (SHARES, KINDS, REFUSE, RELAX, TRIAD, PARTS, NEEDY, SPACED, SHELL, *HOT_TABLES)
    spare_disk_mib = CACHED_MIB
    job = ("echo 0 >/proc/sys/kernel/numa_balancing\n" +  # it would move what is to stay
           "".join(arrangement(*each) for each in ARRANGEMENTS.items()) +
           # Waiting threads sleep: where the guest's CPUs run unevenly, they would spin for most of the time.
           "export OMP_NUM_THREADS=4 OMP_PROC_BIND=true OMP_PLACES=cores OMP_WAIT_POLICY=passive\n" +
           "".join(record(path.name, "", path, 4, 20) for path in HOT_TABLES) +
           record("left", "", RELAX, 3, 0, 2) +
           record("kept", "--pin=scatter --bind-memory", RELAX, 1, 0, 2) +
           record("serial", "", PARTS, 1.5, 64, "serial", 0, 2) +
           record("parallel", "", PARTS, 1.5, 64, "parallel", 0, 2) +
           record_line("packed", "--pin=compact", side_by_side(250)) +
           record_line("spaced", ADVISED, side_by_side(250)) +
           record_line("small", "--pin=compact", side_by_side(60, 1)) +
           record_line("packed-threads", "--pin=compact", (NEEDY, 1.5, 250, 2)) +
           record_line("spaced-threads", ADVISED, (NEEDY, 1.5, 250, 2)) +
           f"SPACING=2 {SPACED} 0.1 220 2 >/results/called.out\n" +
           "echo 2 >/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages\n" +
           record("kinds", "", KINDS, 1, 2, 0, "/root/kinds.data") +
           "echo 0 >/proc/sys/vm/nr_hugepages\n" +
           f"{REFUSE} pages $PLUMB run -q --no-report -o /results/refused -- {SHARES} 0.3 0:b1=1 >/results/refused.out\n" +
           CHANGE_CPUSET +
           "exec 9</dev/nvme1n1\n" +  # a device's cached pages go when nobody has it open
           FILL_CACHE + record("spilled", "", TRIAD, 2, 16, 0, 1) +
           FILL_CACHE + record("swept", "--sweep", TRIAD, 2, 16, 0, 1))

    def report_of(self, run):
        return self.report(self.results.folder / run)

    def only_finding(self, run, identifier):
        report = self.report_of(run)
        pages = next(entry for entry in report["evidence"] if entry["source"] == "numa")
        if pages["state"] != "ok":
            self.skipTest(f"this machine is too busy: {pages['why']}")
        found = self.findings(report, identifier)
        self.assertEqual(len(found), 1, [(finding["id"], finding["title"]) for finding in report["findings"]])
        return found[0]

    def true_shares(self, name):
        """The remote share of an arrangement's accesses as its threads measured it: by their time and by their number.
        A guest's CPU that waits for one of this machine makes the two differ."""
        remote, total = [0, 0], [0, 0]
        for line in self.results.text(f"{name}.truth").splitlines():
            _, cpu, nanoseconds, accesses, *pages = map(int, line.split())
            node = next(n for n in range(len(self.machine.nodes)) if cpu in self.machine.cpus_of(n))
            away = 1 - pages[node] / sum(pages)
            for kind, amount in enumerate((nanoseconds, accesses)):
                remote[kind] += amount * away
                total[kind] += amount
        return remote[0] / total[0], remote[1] / total[1]

    def recorded_share(self, name):
        """The remote share as the recorder saw it, and the number of samples that told. The main thread starts the
        others and prints: what it does is not in the truth."""
        remote = total = samples = 0
        for path in (self.results.folder / name).glob("*.plumb"):
            for traffic in Trace(path).of("MemoryTraffic"):
                if traffic["tid"] != traffic["pid"] and traffic["cpu_node"] >= 0 and traffic["page_node"] >= 0:
                    samples += traffic["samples"]
                    total += traffic["time_ns"]
                    remote += traffic["time_ns"] * (traffic["cpu_node"] != traffic["page_node"])
        return remote / total if total else 0, samples

    def test_the_remote_share_is_the_true_one(self):
        for name in ARRANGEMENTS:
            by_time, by_accesses = self.true_shares(name)
            recorded, samples = self.recorded_share(name)
            seen = (f"{name}: {recorded:.3f} recorded from {samples} samples, {by_time:.3f} true by time, "
                    f"{by_accesses:.3f} by accesses")
            print(seen, file=sys.stderr)
            with self.subTest(name):
                if samples < FEW_SAMPLES or abs(by_time - by_accesses) > STEADY:
                    self.skipTest(f"this machine is too busy to compare: {seen}")
                allowed = 0.03 + 2.5 * math.sqrt(by_time * (1 - by_time) / samples)  # few samples err by chance
                self.assertGreaterEqual(recorded, min(by_time, by_accesses) - allowed, seen)
                self.assertLessEqual(recorded, max(by_time, by_accesses) + allowed, seen)

    @unittest.skipUnless(HOT_TABLES, "no Fortran compiler built the hot table")
    def test_a_table_that_one_node_serves_to_all(self):
        source = "examples/hot-table/shared.f90"
        finding = self.only_finding("hot-table-shared", "memory-hot-node")
        self.assertEqual(finding["subject"]["name"], "shared::a")  # of the program "shared"
        self.assertEqual(finding["where"][0]["line"], marked_line(source, "weight*a(i, j)"))
        touched = f"shared.f90:{marked_line(source, 'a(i, j) = table_value')}"
        self.assertTrue(finding["evidence"]["first_touched_at"].endswith(touched), finding["evidence"])
        self.assertTrue(finding["evidence"]["read_only"])

    @unittest.skipUnless(HOT_TABLES, "no Fortran compiler built the hot table")
    def test_a_copy_of_ones_own_cures_it(self):
        self.assertEqual(self.findings(self.report_of("hot-table-owned"), "memory-hot-node"), [])

    def test_memory_that_its_thread_left_behind(self):
        source = "examples/left-behind/relax.c"
        finding = self.only_finding("left", "memory-left-behind")
        self.assertEqual(finding["where"][0]["line"], marked_line(source, "/* read */"))
        self.assertEqual(finding["subject"]["kind"], "allocation")
        self.assertTrue(finding["subject"]["name"].endswith(f"relax.c:{marked_line(source, '/* allocation */')}"))

        self.assertIn("--pin=scatter --bind-memory", finding["advice"][0]["command"])

    def test_memory_of_a_thread_that_pinning_keeps(self):
        self.assert_only_one_cause("kept", causes=0)

    def test_parts_that_one_thread_touched_first(self):
        source = "tests/programs/memory/parts.c"
        touch, use = marked_line(source, "/* first touch */"), marked_line(source, "/* use */")
        finding = self.only_finding("serial", "serial-first-touch")
        self.assertTrue(finding["subject"]["name"].endswith(f"parts.c:{marked_line(source, '/* allocation */')}"))
        self.assertEqual([place["line"] for place in finding["where"][:2]], [touch, use])
        self.assertTrue(finding["evidence"]["first_touched_at"].endswith(f"parts.c:{touch}"), finding["evidence"])
        self.assertTrue(finding["evidence"]["used_at"].endswith(f"parts.c:{use}"), finding["evidence"])
        self.assertEqual(finding["evidence"]["memory_node"], 0)
        self.assert_only_one_cause("serial")

    def test_parts_that_each_thread_touched_itself(self):
        self.assert_only_one_cause("parallel", causes=0)

    def test_memory_that_was_bound_to_the_other_node(self):
        source = "tests/programs/memory/node_shares.c"
        finding = self.only_finding("each-the-others", "memory-remote")
        self.assertEqual(finding["subject"]["kind"], "allocation")
        mapped = marked_line("tests/programs/memory/place.h", "void* pages = mmap(")
        self.assertTrue(finding["subject"]["name"].endswith(f"place.h:{mapped}"), finding["subject"])
        self.assertEqual(finding["where"][0]["line"], marked_line(source, "sum += block[i];"))
        touched = f"node_shares.c:{marked_line(source, 'block[i] = value;')}"
        self.assertTrue(finding["evidence"]["first_touched_at"].endswith(touched), finding["evidence"])
        self.assertGreater(finding["evidence"]["remote_fraction"], 0.9)
        self.assert_only_one_cause("each-the-others")
        self.assert_only_one_cause("each-its-own", causes=0)

    def assert_only_one_cause(self, run, causes=1):
        about_memory = ("memory-", "serial-first-touch", "page-cache-spill")
        found = [finding["id"] for finding in self.report_of(run)["findings"] if finding["id"].startswith(about_memory)]
        self.assertEqual(len(found), causes, found)

    def test_memory_of_every_kind(self):
        """Its pages are found on the node where they lie, and it is named by the line that mapped it."""
        [trace] = [Trace(path) for path in (self.results.folder / "kinds").glob("node-*.plumb")]
        objects = " ".join(each["name"] for each in self.report_of("kinds")["memory"]["objects"])
        mapped = marked_line("tests/programs/memory/kinds.c", "char* memory = mmap(")
        self.assertIn(f"kinds.c:{mapped}", objects)
        for line in self.results.text("kinds.out").splitlines():
            kind, where, *pages = line.split()
            with self.subTest(kind):
                if where == "missing":
                    self.skipTest(f"no {kind} memory here: {' '.join(pages)}")
                start, node = int(where, 16), max(range(len(pages)), key=lambda at: int(pages[at]))
                reads = [each for each in trace.of("MemoryTraffic")
                         if start <= each["lowest_address"] < start + 2 * 2**20 and each["tid"] != each["pid"]]
                self.assertTrue(reads)
                known = sum(each["samples"] for each in reads if each["page_node"] >= 0)
                right = sum(each["samples"] for each in reads if each["page_node"] == node)
                self.assertGreater(right, 0.9 * known)
                self.assertGreater(known, 0.5 * sum(each["samples"] for each in reads))

    def test_a_kernel_that_does_not_tell_where_pages_lie(self):
        report = self.report_of("refused")
        [numa] = [entry for entry in report["evidence"] if entry["source"] == "numa"]
        self.assertEqual(numa["state"], "missing")
        self.assertIn("move_pages", numa["why"])
        self.assert_only_one_cause("refused", causes=0)
        self.assertEqual(len(self.results.text("refused.out").splitlines()), 0)  # it counts its pages by the same call

    def test_a_cpuset_that_changes_while_the_job_runs(self):
        if not (self.results.folder / "cpuset").exists():
            self.skipTest("this kernel has no cpuset in cgroup2")
        node, *_ = self.results.text("cpuset.out").split()
        self.assertEqual(node, "1")
        [trace] = [Trace(path) for path in (self.results.folder / "cpuset").glob("node-*.plumb")]
        from_nodes = {each["cpu_node"] for each in trace.of("MemoryTraffic") if each["samples"] > 0}
        self.assertLessEqual({0, 1}, from_nodes)
        self.report_of("cpuset")

    def test_processes_that_need_more_than_their_node_has(self):
        finding = self.check_packed("packed", 500)
        self.assertEqual(finding["advice"][0]["command"], f"plumb run {ADVISED} -- {shlex.join(side_by_side(250))}")

    def test_processes_placed_as_advised(self):
        self.check_roomy("spaced")

    def test_processes_that_their_node_has_room_for(self):
        self.check_roomy("small")

    def test_threads_that_need_more_than_their_node_has(self):
        finding = self.check_packed("packed-threads", 500)
        self.assertEqual(finding["advice"][0]["command"], f"plumb run {ADVISED} -- {NEEDY} 1.5 250 2")

    def test_threads_placed_as_advised(self):
        self.check_roomy("spaced-threads")

    def test_threads_that_place_themselves(self):
        self.assertLess(self.away_share("called"), 0.02, self.results.text("called.out"))

    def test_one_page_fault_of_many_is_sampled(self):
        touches = self.node_trace("packed").of("FirstTouch")
        self.assertTrue(touches)
        for touch in touches:  # a program that is slowed at each of its faults would tell as much
            self.assertGreater(touch["faults"], 20 * touch["samples"])

    def spilled_share(self, run):
        """The program's own word on how much of its memory is not on the node of its threads."""
        pages = [int(number) for number in self.results.text(f"{run}.out").partition("nodes:")[2].split()]
        return 1 - pages[0] / sum(pages)

    def test_allocations_that_a_full_page_cache_drove_away(self):
        true_share = self.spilled_share("spilled")
        if true_share < 0.5:
            self.skipTest(f"the cached files left room: {true_share:.2f} of the memory went to the other node")
        finding = self.only_finding("spilled", "page-cache-spill")
        self.assertEqual(finding["subject"]["name"], 0)
        self.assertGreater(finding["evidence"]["cached_file_bytes"], CACHED_MIB / 2 * 2**20)
        self.assertGreater(finding["evidence"]["spilled_fraction"], 0.3)
        self.assertEqual(finding["where"][0]["line"], marked_line("examples/page-cache/triad.c", "/* triad */"))

    def test_the_sweeper_makes_room(self):
        self.assertLess(self.spilled_share("swept"), 0.1)
        self.assertEqual(self.findings(self.report_of("swept"), "page-cache-spill"), [])


if __name__ == "__main__":
    main()
