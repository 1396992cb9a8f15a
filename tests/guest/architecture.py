"""The processors that are emulated, and what the guest's machine is made of with each."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Architecture:
    qemu: str                # the emulator
    package: str             # of Debian that holds it
    kernel_package: str      # depends on the package of the current kernel
    machine: tuple           # qemu's options for board and CPU
    console: str             # the kernel's name of the serial port
    kernel_options: str = ""
    threads: str = "multi"   # of the emulator: one for each CPU, or a single one for all in turn


X86_64 = Architecture("qemu-system-x86_64", "qemu-system-x86", "linux-image-cloud-amd64", ("-cpu", "max,-erms,-fsrm"), "ttyS0",
                      " mitigations=off")
# A server's core; `max` boots three times as long. A single thread: with one for each CPU, one boot of some forty ended with a CPU
# that did not leave a system call of the recorder. qemu before 8.1 may keep the old code where one CPU patches what another
# one's thread is translating, as the kernel does when the first perf event is opened. It takes no longer on two cores.
AARCH64 = Architecture("qemu-system-aarch64", "qemu-system-arm", "linux-image-cloud-arm64", ("-M", "virt", "-cpu", "neoverse-n1"),
                       "ttyAMA0", threads="single")
