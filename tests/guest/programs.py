"""Puts programs and what they load into a guest, each at the path it has on this machine: what is recorded in the guest
is read here afterwards, and finds the same programs."""

import os
import pathlib
import re
import subprocess
import tempfile

from missing import Missing

MERGED = ("bin", "sbin", "lib", "lib64")  # links into /usr on every Debian since 12


def add_merged_folders(image):
    for name in MERGED:
        image.folder(f"/usr/{name}")
        image.link(f"/{name}", f"usr/{name}")


def add_program(image, path, stripped=False):
    """The program (or library) at `path` with all libraries it is linked with. stripped: without its debugging
    information, where that is large and nobody looks at it."""
    path = _in_usr(path)
    if path in image:
        return
    if stripped:
        with tempfile.NamedTemporaryFile() as small:
            subprocess.run(["strip", "--strip-debug", "-o", small.name, str(path)], check=True)
            image.file(path, pathlib.Path(small.name).read_bytes(), executable=True)
    else:
        _add_with_links(image, path)
    for library in _libraries(path):
        _add_with_links(image, _in_usr(library))


def add_library(image, name):
    """A library that programs open while they run, by the name they open it with; none where it is not installed:
    then the guest is as bare as this machine."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = re.search(rf"^\s+{re.escape(name)} \(libc6,x86-64\) => (\S+)", known, re.MULTILINE)
    if found:
        add_program(image, found[1])


def _add_with_links(image, path):
    """A file; where it is a link, the link and what it leads to."""
    while path not in image:
        if not path.is_symlink():
            image.host_file(path)
            return
        target = os.readlink(path)
        image.link(path, target)
        path = _in_usr(path.parent / target)


def _in_usr(path):
    """The path without links among its folders."""
    path = pathlib.Path(path)
    return pathlib.Path(os.path.realpath(path.parent)) / path.name


def _libraries(path):
    """Files that the dynamic loader maps for a program, itself included; none for a static one or a script."""
    done = subprocess.run(["ldd", str(path)], capture_output=True, text=True)
    absent = re.findall(r"(\S+) => not found", done.stdout)
    if absent:
        raise Missing(f"{path} needs {', '.join(absent)}")
    return re.findall(r"(?:=> |^\s+)(/\S+) \(0x", done.stdout, re.MULTILINE)
