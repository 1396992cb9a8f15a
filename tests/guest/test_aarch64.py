"""plumb on an aarch64 machine of two NUMA nodes: what it records and reports there, and what it says that it cannot.

plumb and its shim come from a build for that machine (.ci/aarch64), and the reports are made in the guest."""

import json
import pathlib

from architecture import AARCH64
from guest_test import SYSROOT, GuestTest, example, main, program
from machine import Machine, Node
from needy_test import marked_line

BURN, SHARES, LATE = program("burn"), program("memory/node_shares"), program("mpi/late.mpich")
LISTS = example("heap-bound/heap-bound-lists")
MPIEXEC = [pathlib.Path(SYSROOT) / "usr/bin" / name for name in ("mpiexec.hydra", "hydra_pmi_proxy")]

STEPS, NAP_MS = 40, 30  # of the late rank
ENOUGH_S = 0.4          # of CPU time: with less, nothing is judged


def record(run, options, *command):
    """Records a run; the report as one reads it, and as programs do."""
    words = " ".join(map(str, command))
    return (f"$PLUMB run {options} -o /results/{run} -- {words} >/results/{run}.out 2>/results/{run}.text\n"
            f"$PLUMB report /results/{run} --format json -o /results/{run}.json\n")


class Aarch64(GuestTest):
    machine = Machine((Node(cpus=2, memory_mib=640), Node(cpus=2, memory_mib=640)), {(0, 1): 21, (1, 0): 21}, AARCH64)
    files = (BURN, SHARES, LISTS, LATE, *MPIEXEC)
    job = ("echo 0 >/proc/sys/kernel/numa_balancing\n"  # it would move what is to stay
           "$PLUMB doctor --format json >/results/doctor.json\n" +
           record("main", "", BURN, 2, 3) +
           record("memory", "--rate=1000 --budget=50", SHARES, 2, "0:b1=1", "2:b0=1") +
           record("heap", "", LISTS, 60) +
           record("mpi", "", "mpiexec.hydra", "-n", 3, LATE, "recv", STEPS, NAP_MS))

    def report_of(self, run):
        return json.loads(self.results.text(f"{run}.json"))

    def evidence(self, run):
        return {entry["source"]: entry for entry in self.report_of(run)["evidence"]}

    def finding(self, run, identifier):
        report = self.report_of(run)
        found = self.findings(report, identifier)
        self.assertEqual(len(found), 1, [(finding["id"], finding["title"]) for finding in report["findings"]])
        return found[0]

    def test_the_account_of_the_main_job(self):
        report = self.report_of("main")
        self.assertEqual(report["run"]["threads"], 3)
        burning = [line for line in report["hot_lines"] if line["function"] == "burn_cpu"]
        self.assertTrue(burning, report["hot_lines"])
        self.assertTrue(burning[0]["file"].endswith("burn.c"), burning)
        self.assertIn("perf-sampling", self.evidence("main"))
        for run in ("main", "memory", "heap", "mpi"):
            total = sum(line["fraction"] for line in self.report_of(run)["account"]["lines"])
            self.assertAlmostEqual(total, 1, delta=0.01, msg=run)

    def test_the_alignment_trap_is_missing_evidence(self):
        trap = self.evidence("main")["alignment-trap"]
        self.assertEqual(trap["state"], "missing")
        self.assertIn("no alignment trap", trap["why"])

    def test_memory_of_the_other_node(self):
        cpu_seconds = self.report_of("memory")["run"]["cpu_seconds"]
        if cpu_seconds < ENOUGH_S:
            self.skipTest(f"this machine is too busy: {cpu_seconds} s of CPU time in the guest")
        addresses = self.evidence("memory")["address-sampling"]
        self.assertNotEqual(addresses["state"], "missing", addresses)
        finding = self.finding("memory", "memory-remote")
        self.assertGreater(finding["evidence"]["remote_fraction"], 0.9)
        self.assertEqual(finding["where"][0]["line"], marked_line("tests/programs/memory/node_shares.c", "sum += block[i];"))

    def test_the_heap(self):
        """Its time is counted, with the lines that allocate: their frames are unwound by the shim and by the recorder."""
        self.assertEqual(self.evidence("heap")["heap"]["state"], "ok")
        [allocator] = [line for line in self.report_of("heap")["account"]["lines"] if line["class"] == "allocator"]
        self.assertGreater(allocator["fraction"], 0.2)
        self.assertIn("sort_into_cells", [place["function"].partition("(")[0] for place in allocator["where"]])

    def test_a_late_rank(self):
        """The first rank waits in each step for as long as the last one sleeps, and on a busy machine longer."""
        report = self.report_of("mpi")
        self.assertEqual(report["run"]["exit_status"], 0)
        self.assertEqual(report["run"]["ranks"], 3)
        self.assertEqual(self.evidence("mpi")["mpi"]["state"], "ok")
        [job] = report["mpi_jobs"]
        self.assertTrue(job["library"].startswith("MPICH"), job["library"])
        self.assertEqual(job["messages"]["matched"], STEPS)
        self.assertGreater(job["late_sender_seconds"], 0.7 * STEPS * NAP_MS / 1000)


class Counters(GuestTest):
    """A machine whose counters are right: four cycles an instruction. It has no others than these two."""
    machine = Machine((Node(cpus=2, memory_mib=1024),), {}, AARCH64, counts_exactly=True)
    files = (BURN,)
    job = record("asked", "--with counters", BURN, 1)

    def report_of(self, run):
        return json.loads(self.results.text(f"{run}.json"))

    def test_cycles_and_instructions_are_counted_and_what_it_lacks_is_refused_by_name(self):
        [evidence] = [entry for entry in self.report_of("asked")["evidence"] if entry["source"] == "pmu"]
        self.assertEqual(evidence["state"], "limited")
        self.assertRegex(evidence["why"], r"counts .*\bcycles\b.*\binstructions\b")
        self.assertRegex(evidence["why"], r"data cache misses[^:]*: (perf|PAPI)")
        self.assertAlmostEqual(self.report_of("asked")["metrics"]["instructions_per_cycle"]["value"], 0.25, delta=0.01)

    def test_cycles_are_on_the_lines_that_burn_them(self):
        report = self.report_of("asked")
        [evidence] = [entry for entry in report["evidence"] if entry["source"] == "counter-samples"]
        self.assertIn("sampled_events", report.keys(), evidence)
        [cycles] = [each for each in report["sampled_events"] if each["event"] == "cycles"]
        self.assertGreater(cycles["samples"], 20, evidence)
        burning = [line for line in cycles["lines"] if line["function"] == "burn_cpu" and line["file"].endswith("burn.c")]
        self.assertGreater(sum(line["fraction"] for line in burning), 0.9, cycles)


if __name__ == "__main__":
    main()
