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


X86_64 = Architecture("qemu-system-x86_64", "qemu-system-x86", "linux-image-cloud-amd64", ("-cpu", "max,-erms,-fsrm"), "ttyS0",
                      " mitigations=off")
# A server's core; `max` boots three times as long.
AARCH64 = Architecture("qemu-system-aarch64", "qemu-system-arm", "linux-image-cloud-arm64", ("-M", "virt", "-cpu", "neoverse-n1"),
                       "ttyAMA0")
