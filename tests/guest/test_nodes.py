"""plumb on a machine of several NUMA nodes: it sees them, places threads over them, and records what is on them."""

import json
import re

from guest_test import GuestTest, main, program
from machine import Machine, Node
from needy_test import ADVISED, NEEDY, SHELL, NeedyTest, record_line, side_by_side

BURN, PRINT = program("burn"), program("print_affinity")
DOCTOR = "$PLUMB doctor --format json >/results/doctor.json\n"
RECORD = f"$PLUMB run -q --no-report -o /results/run -- {BURN} 1 3\n"


def pin(name, *options):
    """Three threads besides the main one, placed; who got which CPU goes into /results/NAME."""
    return f"$PLUMB pin {' '.join(options)} -- {PRINT} threads 3 >/results/{name} 2>/results/{name}.table\n"


class NodeTest(GuestTest):
    def doctor(self):
        return {entry["source"]: entry for entry in json.loads(self.results.text("doctor.json"))["evidence"]}

    def placed_on(self, name):
        """The nodes of the main thread and of the three others, in this order."""
        cpus = [int(cpu) for cpu in re.findall(r": (\d+)\n", self.results.text(name))]
        self.assertEqual(len(cpus), 4, self.results.text(name))
        node_of = {cpu: node for node in range(len(self.machine.nodes)) for cpu in self.machine.cpus_of(node)}
        return [node_of[cpu] for cpu in cpus]

    def memory(self):
        """Of each node: its recorded size in MiB."""
        records = self.node_trace("run").of("NodeMemory")
        return {record["node"]: record["total_bytes"] / 2**20 for record in records}

    def check_machine(self):
        """The nodes, their CPUs, sizes and distances are recorded as qemu made them."""
        recorded = self.topology("run")
        nodes = recorded.findall(".//object[@type='NUMANode']")
        for node in nodes:
            number = int(node.get("os_index"))
            memory_only = node.find("info[@name='PlumbMemoryOnly']") is not None
            self.assertEqual(memory_only, self.machine.nodes[number].cpus == 0, number)
            if not memory_only:  # else hwloc names the CPUs that are nearest to it
                cpus = sum(1 << cpu for cpu in self.machine.cpus_of(number))
                self.assertEqual(int(node.get("cpuset").split(",")[-1], 16), cpus, number)
        self.assertEqual(len(nodes), len(self.machine.nodes))
        latencies = recorded.find("distances2[@name='NUMALatency']")
        order = [int(node) for element in latencies.findall("indexes") for node in element.text.split()]
        values = [int(value) for element in latencies.findall("u64values") for value in element.text.split()]
        self.assertEqual(values, [self.machine.distance(a, b) for a in order for b in order])
        sizes = self.memory()
        self.assertEqual(sorted(sizes), list(range(len(self.machine.nodes))))
        for number, size in sizes.items():  # the kernel keeps some of it to itself
            self.assertLessEqual(size, self.machine.nodes[number].memory_mib)
            self.assertGreater(size, 0.6 * self.machine.nodes[number].memory_mib)

    def check_report(self):
        """What was recorded there is read here, down to the source line."""
        report = self.report(self.results.folder / "run")
        self.assertEqual(report["run"]["hosts"][0]["name"], "guest")
        self.assertEqual(report["run"]["threads"], 3)
        # The kernel's lines have no names here, and a CPU of the guest that waits for one of this machine is in it.
        burning = [line for line in report["hot_lines"] if line["function"] == "burn_cpu"]
        self.assertTrue(burning, report["hot_lines"])
        self.assertTrue(burning[0]["file"].endswith("burn.c"), burning)


class FourUnevenNodes(NodeTest, NeedyTest):
    """Asymmetric distances, nodes of different sizes, and one that is memory alone: the last, as the kernel numbers
    nodes with CPUs first."""

    machine = Machine((Node(2, 384), Node(1, 256), Node(1, 256), Node(0, 128)),
                      {(0, 1): 15, (1, 0): 21, (0, 2): 28, (2, 0): 31, (1, 2): 12, (2, 1): 14,
                       (0, 3): 40, (3, 0): 42, (1, 3): 44, (3, 1): 46, (2, 3): 48, (3, 2): 50})
    files = (BURN, PRINT, NEEDY, SHELL)
    job = (DOCTOR + pin("scatter", "--scatter") + pin("compact", "--compact") + RECORD +
           record_line("packed", "--pin=compact", side_by_side(190)) +
           record_line("spaced", ADVISED, side_by_side(190)))

    def test_doctor_sees_all_nodes(self):
        doctor = self.doctor()
        self.assertEqual(doctor["numa"]["state"], "ok")
        self.assertIn("4 NUMA nodes", doctor["numa"]["why"])
        self.assertEqual(doctor["page-nodes"]["state"], "ok", doctor["page-nodes"])

    def test_scatter_takes_each_node_with_cpus_before_a_second_cpu(self):
        self.assertEqual(self.placed_on("scatter"), [0, 1, 2, 0])
        table = re.findall(r"^ +\d+ +\d+ +(\d+) +\d+ +(\d+) +\d+$", self.results.text("scatter.table"), re.MULTILINE)
        self.assertEqual(table, [("0", "0"), ("2", "1"), ("3", "2"), ("1", "0")])

    def test_compact_fills_a_node_first(self):
        self.assertEqual(self.placed_on("compact"), [0, 0, 1, 2])

    def test_processes_that_need_more_than_their_node_has(self):
        self.check_packed("packed", 380)

    def test_processes_placed_as_advised(self):
        self.check_roomy("spaced")

    def test_the_machine_is_recorded(self):
        self.check_machine()

    def test_the_run_is_read_on_another_machine(self):
        self.check_report()


if __name__ == "__main__":
    main()
