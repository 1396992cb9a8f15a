"""Puts programs and what they load into a guest, each at the path it has on this machine (in a sysroot: the path below it): what is
recorded in the guest is read here afterwards, and finds the same programs."""

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


class Host:
    """This machine's programs and libraries."""
    strip = "strip"
    busybox = "/bin/busybox"
    run = ()  # what starts a program of the guest here

    def libraries(self, path):
        """Files that the dynamic loader maps for a program, itself included; none for a static one or a script."""
        done = subprocess.run(["ldd", str(path)], capture_output=True, text=True)
        absent = re.findall(r"(\S+) => not found", done.stdout)
        if absent:
            raise Missing(f"{path} needs {', '.join(absent)}")
        return re.findall(r"(?:=> |^\s+)(/\S+) \(0x", done.stdout, re.MULTILINE)

    def find(self, name):
        """A library by the name that programs open it with; None: it is not installed."""
        known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
        found = re.search(rf"^\s+{re.escape(name)} \(libc6,x86-64\) => (\S+)", known, re.MULTILINE)
        return found and found[1]

    def in_guest(self, path):
        """The path without links among its folders."""
        path = pathlib.Path(path)
        return pathlib.Path(os.path.realpath(path.parent)) / path.name


class Sysroot:
    """Programs and libraries of another architecture: Debian's packages, unpacked below a folder."""

    def __init__(self, root, triplet):
        self.root, self.triplet = pathlib.Path(root), triplet
        self.strip = f"{triplet}-strip"
        self.busybox = self.root / "bin/busybox"
        self.run = (f"qemu-{triplet.partition('-')[0]}-static",)
        self._folders = [self.root / folder / triplet for folder in ("usr/lib", "lib")]

    def libraries(self, path):
        found, open_paths = {}, [pathlib.Path(path)]
        while open_paths:
            path = open_paths.pop()
            headers = subprocess.run(["readelf", "-Wld", str(path)], capture_output=True, text=True).stdout
            interpreter = re.search(r"interpreter: (/\S+?)\]", headers)
            if interpreter:
                found.setdefault(interpreter[1], self.root / interpreter[1].lstrip("/"))
            beside = [path.parent / folder for folder in re.findall(r"RUNPATH.*\[\$ORIGIN/?(\S*?)\]", headers)]
            for name in re.findall(r"NEEDED.*\[(\S+)\]", headers):
                if name not in found:
                    found[name] = self.find(name, beside) or self._absent(path, name)
                    open_paths.append(found[name])
        return list(found.values())

    def find(self, name, beside=()):
        return next((folder / name for folder in (*beside, *self._folders) if (folder / name).exists()), None)

    def in_guest(self, path):
        path = pathlib.Path(os.path.realpath(pathlib.Path(path).parent)) / pathlib.Path(path).name
        if not path.is_relative_to(self.root):
            return path
        inside = path.relative_to(self.root)
        return pathlib.Path("/usr" if inside.parts[0] in MERGED else "/") / inside

    @staticmethod
    def _absent(path, name):
        raise Missing(f"{path} needs {name}")


def add_program(image, path, stripped=False, source=Host()):
    """The program (or library) at `path` with all libraries it is linked with. stripped: without its debugging
    information, where that is large and nobody looks at it."""
    path = pathlib.Path(path)
    place = source.in_guest(path)
    if place in image:
        return
    if stripped:
        with tempfile.NamedTemporaryFile() as small:
            subprocess.run([source.strip, "--strip-debug", "-o", small.name, str(path)], check=True)
            image.file(place, pathlib.Path(small.name).read_bytes(), executable=True)
    else:
        _add_with_links(image, path, source)
    for library in source.libraries(path):
        _add_with_links(image, pathlib.Path(library), source)


def add_library(image, name, source=Host()):
    """A library that programs open while they run, by the name they open it with; none where it is not installed:
    then the guest is as bare as this machine."""
    if found := source.find(name):
        add_program(image, found, source=source)


def _add_with_links(image, path, source):
    """A file; where it is a link, the link and what it leads to."""
    while source.in_guest(path) not in image:
        if not path.is_symlink():
            image.host_file(path, source.in_guest(path))
            return
        target = os.readlink(path)
        image.link(source.in_guest(path), target)
        path = path.parent / target
