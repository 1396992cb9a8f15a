"""A second reader of the trace format, written from its description alone: what the shim's tests look with."""

import struct

RECORDS = {
    1: ("String", "II", ("id", "length")),
    2: ("ProcessStart", "IIQIIIiiiII", ("pid", "parent_pid", "time_ns", "executable", "command_line",
                                        "working_directory", "rank", "rank_count", "local_rank", "launcher",
                                        "flags")),
    3: ("ProcessEnd", "QIi", ("time_ns", "kind", "status")),
    4: ("ThreadStart", "QQII", ("time_ns", "start_routine", "creator_tid", "creation_path")),
    5: ("ThreadEnd", "QQ", ("time_ns", "cpu_time_ns")),
    6: ("ThreadName", "II", ("name", "padding")),
    7: ("ModuleLoad", "IIQQQQQQ20sB3xII", ("id", "pid", "time_ns", "start", "end", "file_offset", "device", "inode",
                                           "build_id", "build_id_size", "path", "flags")),
    8: ("ModuleUnload", "IIQ", ("id", "pid", "time_ns")),
    9: ("PathNode", "IIQII", ("id", "parent", "address", "pid", "flags")),
    14: ("Evidence", "IIIII", ("source", "state", "why", "enable", "pid")),
    17: ("AlignSite", "IIQQHHI16s", ("id", "flags", "address", "time_ns", "width", "instruction_bytes", "path",
                                     "code")),
    18: ("AlignCount", "IIQQQQQ64Q", ("site", "exact", "hits", "page_crossings", "lowest_address", "highest_address",
                                      "last_ns", *(f"residue_{i}" for i in range(64)))),
    19: ("AlignAddress", "IIQQQQIIQQQ", ("site", "block_kind", "address", "time_ns", "block_start", "block_bytes",
                                         "block_path", "padding", "base_value", "stack_pointer", "frame_address")),
    20: ("AlignTotals", "IIQQQQQQQQQ", ("mode", "padding", "hits", "excluded_hits", "windows", "armed_ns", "stepped",
                                        "slots", "rewritten", "trap_ns", "lost_hits")),
    21: ("AlignCode", "QQQ", ("start", "end", "address")),
    22: ("MpiRank", "IiiiIIIIQQQQQQQQQQQQQQQ", ("library", "rank", "size", "thread_level", "library_version",
                        "job", "flags", "dropped_sites", "first_ticks", "first_ns", "last_ticks", "last_ns",
                        "init_begin_ns", "init_end_ns", "finalize_begin_ns", "finalize_end_ns", "mpi_ticks",
                        "collectives", "collective_stride", "messages", "message_stride", "unmatched",
                        "reserved")),
    23: ("MpiComm", "IIQIiIIIIIiQQ", ("id", "flags", "group_hash", "ordinal", "rank", "size", "remote_size",
                        "parent", "name", "path", "first", "time_ticks", "handle")),
    24: ("MpiSite", "IIIIIIQQQQQQQQQQ32Q", ("id", "kind", "call", "path", "comm", "padding", "calls",
                        "timed_calls", "ticks", "longest_ticks", "sent_bytes", "received_bytes", "failed",
                        "found_nothing", "first_ticks", "last_ticks", *(f"size_{i}" for i in range(32)))),
    25: ("MpiPeer", "iIQQ32Q", ("peer", "direction", "messages", "bytes", *(f"size_{i}" for i in range(32)))),
    26: ("MpiCollective", "IIQQQQQQIIQ", ("comm", "site", "sequence", "begin_ticks", "wait_ticks",
                        "end_ticks", "gap_ticks", "gap_mpi_ticks", "root", "padding", "bytes")),
    27: ("MpiMessage", "IIiiIIQQQQQ", ("comm", "site", "peer", "tag", "flags", "wait_site", "sequence",
                        "begin_ticks", "wait_ticks", "end_ticks", "bytes")),
    30: ("MpiRequest", "IIiiIIQQ", ("site", "flags", "peer", "tag", "comm", "thread", "handle", "sequence")),
    31: ("MpiInside", "QIIQQiiiiIIQ", ("begin_ticks", "call", "kind", "return_address", "comm", "from_rank", "from_tag",
                        "to_rank", "to_tag", "path", "requests", "request")),
    34: ("SampleSite", "IIQQQQQ", ("pid", "path", "samples", "time_ns", "kernel", "first_ns", "last_ns")),
    38: ("NodeMemory", "IIQQQQQQQQ", ("node", "padding", "time_ns", "total_bytes", "free_bytes", "file_bytes",
                        "anonymous_bytes", "local_allocations", "missed_allocations", "foreign_allocations")),
    42: ("Topology", "IIII", ("xml", "xml_parts", "allowed_cpus", "cpu_count")),
    48: ("MemoryTraffic", "IIQIIHhhHQQQQQQQ", ("pid", "area", "instruction", "path", "flags", "width", "cpu_node",
                        "page_node", "unknown", "samples", "time_ns", "lowest_address", "highest_address",
                        "last_address", "first_ns", "last_ns")),
    50: ("FirstTouch", "IIQIhhQQQQQQ", ("pid", "area", "instruction", "path", "cpu_node", "page_node", "samples",
                        "faults", "lowest_address", "highest_address", "first_ns", "last_ns")),
}
WITH_PATH_NODES = {"SampleSite", "MemoryTraffic", "FirstTouch", "AlignSite", "MpiComm", "MpiSite", "MpiInside"} # "path": a call path's
TEXTS = {"call", "job", "library_version", "executable", "command_line", "working_directory", "launcher", "name", "path",
         "source", "why", "enable"}
CLOSED, FULL = 1, 2
END_KINDS = {0: "none", 1: "exit", 2: "quick_exit", 3: "exec", 4: "abort"}


class Trace:
    """One file: its header's fields and `records`, a list of dictionaries in file order. Raises ValueError where the
    file is not what the format promises."""

    def __init__(self, path):
        data = path.read_bytes()
        (magic, self.major, self.minor, header_size, self.writer, self.flags, self.pid, self.start_ticks,
         self.opened_ns, _, used, self.dropped, self.own_cost_ns, self.closed_ns) = struct.unpack_from(
             "<8sHHIIIQQQQQQQQ", data)
        if magic != b"PLUMBTR\n" or header_size != 256:
            raise ValueError(f"{path}: no trace")
        self.path, self.size, self.used, self.records, strings = path, len(data), used, [], {0: None}
        at = header_size
        while at < header_size + used:
            chunk_magic, size, committed, tid, _ = struct.unpack_from("<4sIQII", data, at)
            if chunk_magic == b"\0\0\0\0":
                break
            if chunk_magic != b"CHNK" or committed > size - 24:
                raise ValueError(f"{path}: damaged chunk at {at}")
            record, end = at + 24, at + 24 + committed
            while record < end:
                number, length, tid = struct.unpack_from("<HHI", data, record)
                if length < 8 or length % 8 or record + length > end:
                    raise ValueError(f"{path}: damaged record at {record}")
                if number == 1:
                    identifier, count = struct.unpack_from("<II", data, record + 8)
                    strings[identifier] = data[record + 16:record + 16 + count].decode(errors="replace")
                elif number in RECORDS:
                    name, fields, names = RECORDS[number]
                    values = struct.unpack_from("<" + fields, data, record + 8)
                    self.records.append({"type": name, "tid": tid, **dict(zip(names, values))})
                record += length
            at += size
        self.strings = strings
        for entry in self.records:
            for name in TEXTS & entry.keys():
                if isinstance(entry[name], int) and not (entry["type"] in WITH_PATH_NODES and name == "path"):
                    entry[name] = strings[entry[name]]

    def of(self, kind):
        return [entry for entry in self.records if entry["type"] == kind]

    @property
    def start(self):
        return self.of("ProcessStart")[0]

    @property
    def program(self):
        return self.start["executable"].rsplit("/", 1)[-1]

    @property
    def arguments(self):
        return self.start["command_line"].split("\0")

    @property
    def closed(self):
        return bool(self.flags & CLOSED)

    @property
    def full(self):
        return bool(self.flags & FULL)

    @property
    def end(self):
        """How the image ended: (kind, status) of the last end that counts, None without one."""
        ends = [(END_KINDS[entry["kind"]], entry["status"]) for entry in self.of("ProcessEnd") if entry["kind"]]
        return ends[-1] if ends else None
