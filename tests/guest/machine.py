"""The emulated machine: NUMA nodes, their CPUs and distances, as qemu gets them."""

import dataclasses
import shutil

from architecture import X86_64, Architecture
from missing import Missing

DEFAULT_DISTANCE = 20  # ACPI: 10 is the node's own memory
# A CPU that is stuck for two minutes ends the guest, and the console says where.
KERNEL_OPTIONS = "quiet panic=-1 watchdog_thresh=60 softlockup_panic=1 nokaslr"


@dataclasses.dataclass(frozen=True)
class Node:
    """One memory node. CPUs are numbered node by node; a node without CPUs is memory alone."""
    cpus: int
    memory_mib: int


@dataclasses.dataclass(frozen=True)
class Machine:
    """nodes: at least one, the first of them with a CPU. distances: {(from, to): distance}; what is not named is 20."""
    nodes: tuple
    distances: dict = dataclasses.field(default_factory=dict)
    architecture: Architecture = X86_64
    counts_exactly: bool = False  # time goes by instructions, four nanoseconds each, so that counters have a known truth; slower

    @property
    def memory_mib(self):
        return sum(node.memory_mib for node in self.nodes)

    def cpus_of(self, node):
        """The CPU numbers of a node."""
        first = sum(other.cpus for other in self.nodes[:node])
        return list(range(first, first + self.nodes[node].cpus))

    def distance(self, source, target):
        return 10 if source == target else self.distances.get((source, target), DEFAULT_DISTANCE)

    def _accelerator(self):
        if self.counts_exactly:
            return ["-accel", "tcg,thread=single", "-icount", "shift=2,sleep=off"]
        return ["-accel", f"tcg,thread={self.architecture.threads}"]

    def qemu_command(self, kernel, initramfs, disks, console):
        """The command that boots it, with `disks` as /dev/nvme0n1, /dev/nvme1n1, ... and the serial console in a
        file. Nothing leads out of the guest."""
        made_of = self.architecture
        if not shutil.which(made_of.qemu):
            raise Missing(f"{made_of.qemu} is not installed (package {made_of.package})")
        command = [made_of.qemu, *self._accelerator(), *made_of.machine, "-smp", str(sum(n.cpus for n in self.nodes)),
                   "-m", f"{self.memory_mib}M", "-kernel", str(kernel), "-initrd", str(initramfs),
                   "-append", f"console={made_of.console} {KERNEL_OPTIONS}{made_of.kernel_options}", "-display", "none",
                   "-serial", f"file:{console}", "-monitor", "none", "-no-reboot", "-nic", "none"]
        for number, node in enumerate(self.nodes):
            command += ["-object", f"memory-backend-ram,id=memory{number},size={node.memory_mib}M"]
            cpus = self.cpus_of(number)
            range_of_cpus = f",cpus={cpus[0]}-{cpus[-1]}" if cpus else ""
            command += ["-numa", f"node,nodeid={number},memdev=memory{number}{range_of_cpus}"]
        for source in range(len(self.nodes)):
            for target in range(len(self.nodes)):
                if source != target:
                    command += ["-numa", f"dist,src={source},dst={target},val={self.distance(source, target)}"]
        for number, disk in enumerate(disks):
            command += ["-drive", f"file={disk},if=none,id=disk{number},format=raw",
                        "-device", f"nvme,drive=disk{number},serial=disk{number}"]
        return command
