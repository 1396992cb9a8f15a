"""Debian's kernel for virtual machines, unpacked into a folder of its own and kept there; nothing is installed."""

import pathlib
import re
import shutil
import subprocess
import tempfile

from missing import Missing


def kernel_image(folder, meta_package):
    """Path of a kernel that qemu boots: the one kept in `folder`, else Debian's current one, which `meta_package` depends on,
    downloaded into it. Raises Missing where there is neither."""
    folder = pathlib.Path(folder)
    kept = sorted(folder.glob("vmlinuz-*"))
    return kept[-1] if kept else _unpacked(_package_name(meta_package), folder)


def _package_name(meta_package):
    """The package that holds the kernel: linux-image-VERSION-cloud-ARCHITECTURE."""
    found = re.search(r"Depends: *(linux-image-\S+)", _answer("apt-cache", "depends", meta_package))
    if not found:
        raise Missing(f"apt knows no kernel: apt-cache depends {meta_package} names none (apt-get update?)")
    return found[1]


def _unpacked(package, folder):
    folder.mkdir(parents=True, exist_ok=True)
    # Renamed into place when it is whole, so that an interrupted download leaves nothing to be taken for a kernel.
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        _answer("apt-get", "download", "-q", package, cwd=scratch)
        archives = list(pathlib.Path(scratch).glob("*.deb"))
        if not archives:
            raise Missing(f"apt-get download {package} brought no package")
        _answer("dpkg-deb", "--extract", archives[0], scratch)
        images = list(pathlib.Path(scratch).glob("boot/vmlinuz-*"))
        if not images:
            raise Missing(f"{archives[0].name} holds no boot/vmlinuz-*")
        return pathlib.Path(shutil.move(images[0], folder / images[0].name))


def _answer(*command, cwd=None):
    """stdout of a command that must succeed."""
    try:
        done = subprocess.run(list(map(str, command)), cwd=cwd, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise Missing(f"{command[0]}: {problem}") from problem
    if done.returncode:
        raise Missing(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.returncode}")
    return done.stdout
