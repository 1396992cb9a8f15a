"""Runs a shell script in an emulated machine of several NUMA nodes and brings its results back."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import tarfile
import time

import programs
from debian_kernel import kernel_image
from initramfs import Initramfs
from missing import Missing

HERE = pathlib.Path(__file__).resolve().parent
RESULTS_DISK_MIB = 512  # sparse: takes what is written to it
MEMORY_BESIDE_MIB = 512  # what qemu and the tests take besides the guest's memory
BOOT_LIMIT_S = 180
END_LIMIT_S = 60  # for what follows a job: its results are written, the guest powers down


class GuestFailed(Exception):
    """The guest came up, and brought no results."""


@dataclasses.dataclass
class Results:
    """What a job left: the files it wrote to /results, among them its stdout and stderr."""
    folder: pathlib.Path
    console: str
    seconds: float

    def text(self, name):
        return (self.folder / name).read_text(errors="replace")

    @property
    def status(self):
        return int(self.text("status"))

    def explain(self):
        """The end of everything that was said, for a failure's message."""
        return "\n".join(f"--- {name} of the guest\n{text[-3000:]}" for name, text in
                         (("console", self.console), ("stdout", self.text("stdout")), ("stderr", self.text("stderr"))))


class Guest:
    """A machine that is booted afresh for each job. folder: for the kernel, which is kept. source: where the guest's programs and
    libraries come from."""

    def __init__(self, machine, folder, source=programs.Host()):
        self.machine, self.folder, self.source = machine, pathlib.Path(folder), source

    def run(self, job, work, tools=(), libraries=(), files=(), spare_disk_mib=0, limit_s=400):
        """Runs `job` (a shell script, as root, CPUs and memory all its own) and returns its Results.
        work: a folder for the image, the console and the results, emptied first. tools: programs whose debugging
        information stays here; files: programs that keep theirs. All are found in the guest at their paths here, with
        the libraries they are linked with; libraries: names of those that they open themselves. spare_disk_mib: size of an empty /dev/nvme1n1.
        A job that does not end within limit_s is killed. Raises Missing where no guest can be had here, GuestFailed where
        it came up and brought no results."""
        work = pathlib.Path(work)
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        _require_memory(self.machine.memory_mib + MEMORY_BESIDE_MIB)
        kernel = kernel_image(self.folder / "kernel", self.machine.architecture.kernel_package)
        image, console = work / "initramfs", work / "console"
        _pack(job, limit_s, tools, libraries, files, self.source).write(image)
        disks = [_sparse(work / "results.disk", RESULTS_DISK_MIB)]
        if spare_disk_mib:
            disks.append(_sparse(work / "spare.disk", spare_disk_mib))
        begin = time.monotonic()
        try:
            status = _run_qemu(self.machine.qemu_command(kernel, image, disks, console), console, work, limit_s + END_LIMIT_S)
            said = _read(console)
            if "guest is done" not in said:
                raise GuestFailed(f"qemu ended with {status}\n{said[-3000:]}\n{_read(work / 'qemu')[-1000:]}")
            _unpack(disks[0], work / "results")
        finally:
            for path in (image, *disks):
                path.unlink(missing_ok=True)
        return Results(work / "results", said, time.monotonic() - begin)


def _pack(job, limit_s, tools, libraries, files, source):
    if not os.access(source.busybox, os.X_OK):
        raise Missing(f"{source.busybox} is not there (package busybox-static)")
    image = Initramfs()
    programs.add_merged_folders(image)
    programs.add_program(image, source.busybox, source=source)
    applets = subprocess.run([*source.run, source.busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    for applet in applets:
        if applet != "busybox":
            image.link(f"/usr/bin/{applet}", "busybox")
    for tool in tools:
        programs.add_program(image, tool, stripped=True, source=source)
    for library in libraries:
        programs.add_library(image, library, source)
    for path in files:
        programs.add_program(image, path, source=source)
    for folder in ("/proc", "/sys", "/dev", "/tmp", "/results", "/root"):
        image.folder(folder)
    image.file("/etc/passwd", b"root:x:0:0:root:/root:/bin/sh\n")
    image.file("/etc/hosts", b"127.0.0.1 localhost guest\n")
    image.file("/init", (HERE / "init.sh").read_bytes(), executable=True)
    image.file("/job", job.encode())
    image.file("/limit", str(limit_s).encode())
    return image


def _run_qemu(command, console, work, limit_s):
    """qemu's exit status. It stays in the process group of the test: whoever ends that ends the guest with it."""
    with open(work / "qemu", "wb") as said:
        qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    try:
        _await_boot(qemu, console)
        return qemu.wait(limit_s)
    except subprocess.TimeoutExpired:
        raise GuestFailed(f"the guest did not end within {limit_s} s\n{_read(console)[-3000:]}") from None
    finally:
        qemu.kill()
        qemu.wait()


def _await_boot(qemu, console):
    """Returns when the guest's first process runs. A machine too busy or an emulator too old for that says nothing
    about the tool."""
    end = time.monotonic() + BOOT_LIMIT_S
    while "guest is up" not in _read(console):
        if qemu.poll() is not None and "guest is up" not in _read(console):
            raise Missing(f"qemu ended with {qemu.returncode} before Linux was up\n{_read(console)[-2000:]}\n"
                          f"{_read(console.parent / 'qemu')[-1000:]}")
        if time.monotonic() > end:
            raise Missing(f"the emulated machine did not come up within {BOOT_LIMIT_S} s\n{_read(console)[-2000:]}")
        time.sleep(0.2)


def _require_memory(mib):
    with open("/proc/meminfo") as lines:
        fields = dict(line.split(":", 1) for line in lines)
    available = int(fields["MemAvailable"].split()[0]) // 1024
    if available < mib:
        raise Missing(f"a guest takes {mib} MiB of memory, {available} MiB are available")


def _sparse(path, mib):
    with open(path, "wb") as disk:
        disk.truncate(mib << 20)
    return path


def _unpack(disk, folder):
    with tarfile.open(disk) as archive:
        archive.extractall(folder)


def _read(path):
    try:
        return path.read_text(errors="replace")
    except FileNotFoundError:
        return ""
