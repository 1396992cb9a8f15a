"""Reads the records of trace files that tests compare with a known truth (include/plumb/trace_format.h)."""

import collections
import pathlib
import struct

FILE_HEADER, CHUNK_HEADER = 256, struct.Struct("<IIQII")
CHUNK_MAGIC = 0x4B4E4843
PATH_NODE, HEAP_TOTALS, HEAP_SITE, LARGE_MAP, EVIDENCE, STRING = 9, 10, 11, 12, 14, 1
WORD = (1 << 64) - 1

PathNode = collections.namedtuple("PathNode", "id parent address pid flags")
HeapTotals = collections.namedtuple("HeapTotals", "tid allocations allocated_bytes frees reallocations zero_sized "
                                    "failed max_request_bytes size_histogram")
HeapSite = collections.namedtuple("HeapSite", "tid path mode allocations allocated_bytes frees freed_bytes temporary "
                                  "peak_live_bytes samples lock_wait_ns first_ns last_ns peak_epoch")
LargeMap = collections.namedtuple("LargeMap", "time_ns address bytes path kind until_ns")


class Trace:
    """The heap records of one process's file."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.nodes, self.totals, self.sites, self.maps = {}, [], [], []
        self.strings, self.evidence = {}, {}
        data = self.path.read_bytes()
        self.dropped_records, = struct.unpack_from("<Q", data, 64)
        at = struct.unpack_from("<I", data, 12)[0]
        end = min(len(data), at + struct.unpack_from("<Q", data, 56)[0])
        while at + CHUNK_HEADER.size <= end:
            magic, size, committed, _, _ = CHUNK_HEADER.unpack_from(data, at)
            if size == 0:
                break
            if magic == CHUNK_MAGIC:
                self._read_chunk(data, at + CHUNK_HEADER.size, committed)
            at += size

    def _read_chunk(self, data, at, committed):
        end = at + committed
        while at < end:
            kind, size, tid = struct.unpack_from("<HHI", data, at)
            if kind == PATH_NODE:
                node = PathNode(*struct.unpack_from("<IIQII", data, at + 8))
                self.nodes[node.id] = node
            elif kind == HEAP_TOTALS:
                words = struct.unpack_from("<39Q", data, at + 8)
                self.totals.append(HeapTotals(tid, *words[:7], words[7:]))
            elif kind == HEAP_SITE:
                self.sites.append(HeapSite(tid, *struct.unpack_from("<II11Q", data, at + 8)))
            elif kind == LARGE_MAP:
                self.maps.append(LargeMap(*struct.unpack_from("<QQQIIQ", data, at + 8)))
            elif kind == STRING:
                identity, length = struct.unpack_from("<II", data, at + 8)
                self.strings[identity] = data[at + 16:at + 16 + length].decode(errors="replace")
            elif kind == EVIDENCE:
                source, state, why = struct.unpack_from("<III", data, at + 8)
                self.evidence[self.strings[source]] = (state, self.strings.get(why, ""))
            at += size

    def total(self, field):
        return sum(getattr(totals, field) for totals in self.totals)

    def site_sum(self, field):
        return sum(getattr(site, field) for site in self.sites) & WORD

    def merged_sites(self):
        """{path: (allocations, bytes, frees, freed bytes, temporary, live at the peak)} over all threads."""
        last_epoch = max((site.peak_epoch for site in self.sites), default=0)
        merged = collections.defaultdict(lambda: [0] * 6)
        for site in self.sites:
            peak = site.peak_live_bytes if site.peak_epoch == last_epoch else site.allocated_bytes - site.freed_bytes
            for i, amount in enumerate((site.allocations, site.allocated_bytes, site.frees, site.freed_bytes,
                                        site.temporary, peak)):
                merged[site.path][i] = merged[site.path][i] + amount & WORD
        return merged

    def addresses(self, path):
        """Innermost first."""
        found = []
        while path:
            found.append(self.nodes[path].address)
            path = self.nodes[path].parent
        return found


def traces(run_directory):
    """The process files of a run, in the order of their names."""
    return [Trace(path) for path in sorted(pathlib.Path(run_directory).rglob("process-*.plumb"))]
