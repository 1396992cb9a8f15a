"""Writes a file system image as Linux unpacks it at boot: cpio's "newc" form, documented in the kernel's
Documentation/driver-api/early-userspace/buffer-format.rst.

Not compressed: an emulated CPU takes longer to unpack it than qemu takes to load it.
"""

import os
import pathlib
import stat


class Initramfs:
    """Collects files, folders and links by their absolute path in the guest; parents are made as needed."""

    def __init__(self):
        self._entries = {}  # path without the leading slash: (mode, content)

    def folder(self, path):
        self._add(path, stat.S_IFDIR | 0o755, b"")

    def link(self, path, target):
        self._add(path, stat.S_IFLNK | 0o777, os.fsencode(target))

    def file(self, path, content, executable=False):
        self._add(path, stat.S_IFREG | (0o755 if executable else 0o644), content)

    def host_file(self, source, path=None):
        """A file of this machine, at the same place in the guest or at `path`."""
        source = pathlib.Path(source)
        self.file(path or source, source.read_bytes(), os.access(source, os.X_OK))

    def __contains__(self, path):
        return _name(path) in self._entries

    def _add(self, path, mode, content):
        name = _name(path)
        parent = os.path.dirname(name)
        if parent and parent not in self._entries:
            self.folder(parent)
        self._entries[name] = (mode, content)

    def write(self, path):
        with open(path, "wb") as image:
            for number, (name, (mode, content)) in enumerate(self._entries.items(), start=1):
                _write_entry(image, number, os.fsencode(name), mode, content)
            _write_entry(image, 0, b"TRAILER!!!", 0, b"")


def _name(path):
    return os.fsdecode(path).lstrip("/")


def _write_entry(image, number, name, mode, content):
    links = 2 if stat.S_ISDIR(mode) else 1
    # inode, mode, uid, gid, links, mtime, size, device (major, minor), special device (same), name's size, checksum
    fields = (number, mode, 0, 0, links, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    for part in (header + name + b"\0", content):
        image.write(part + bytes(-len(part) % 4))
