"""Reads the recorder's trace file without the analyzer: the tests of recording must not trust its reader."""

import collections
import pathlib
import struct

STRING, MODULE_LOAD, PATH_NODE, EVIDENCE = 1, 7, 9, 14
PROCESS_SEEN, PROCESS_GONE, SAMPLE_SITE, THREAD_SCHEDULE, THREAD_INTERVAL, CPU_INTERVAL = 32, 33, 34, 35, 36, 37
OTHER_PROCESS, RECORDER_COST, ACCESS_SITE, ACCESS_PENALTY, EVENT_COUNT = 39, 41, 43, 44, 45

Record = collections.namedtuple("Record", "type tid body")


class RawTrace:
    def __init__(self, path):
        data = pathlib.Path(path).read_bytes()
        if data[:8] != b"PLUMBTR\n":
            raise ValueError(f"{path}: not a trace file")
        self.flags = struct.unpack_from("<I", data, 20)[0]
        self.strings = {0: ""}
        self.records = []
        offset = struct.unpack_from("<I", data, 12)[0]
        while offset + 24 <= len(data):
            magic, size, committed = struct.unpack_from("<IIQ", data, offset)
            if magic != 0x4B4E4843:
                break
            at, end = offset + 24, offset + 24 + committed
            while at < end:
                kind, length, tid = struct.unpack_from("<HHI", data, at)
                if kind == STRING:
                    number, text = struct.unpack_from("<II", data, at + 8)
                    self.strings[number] = data[at + 16:at + 16 + text].decode(errors="replace")
                else:
                    self.records.append(Record(kind, tid, data[at + 8:at + length]))
                at += length
            offset += size

    def of(self, kind):
        return [record for record in self.records if record.type == kind]

    def processes(self):
        """(pid, executable, name, flags) of each image, in the order seen."""
        images = []
        for record in self.of(PROCESS_SEEN):
            pid, _, _, executable, _, name, flags = struct.unpack_from("<IIQIIII", record.body)
            images.append((pid, self.strings[executable], self.strings[name], flags))
        return images

    def gone(self):
        """pid -> (wait status, user ns, system ns)"""
        return {body[0]: (body[1], body[3], body[4])
                for body in (struct.unpack_from("<IiQQQQ", record.body) for record in self.of(PROCESS_GONE))}

    def sampled_ns(self, pid=None):
        return sum(site[3] for site in (struct.unpack_from("<IIQQQ", r.body) for r in self.of(SAMPLE_SITE))
                   if pid in (None, site[0]))

    def threads(self):
        """[(tid, pid, name, run ns, run delay ns, allowed CPUs)]"""
        return [(record.tid, *[self.strings[x] if i == 1 else x
                               for i, x in enumerate(struct.unpack_from("<II", record.body))],
                 *struct.unpack_from("<QQ", record.body, 24),
                 self.strings[struct.unpack_from("<I", record.body, 96)[0]])
                for record in self.of(THREAD_SCHEDULE)]

    def evidence(self):
        """source -> (state, why, enable); states: 1 ok, 2 limited, 3 missing"""
        found = {}
        for record in self.of(EVIDENCE):
            source, state, why, enable = struct.unpack_from("<IIII", record.body)
            found[self.strings[source]] = (state, self.strings[why], self.strings[enable])
        return found


def recorder_trace(run_directory):
    files = sorted(pathlib.Path(run_directory).glob("node-*.plumb"))
    if len(files) != 1:
        raise AssertionError(f"expected one recorder's file, found {files}")
    return RawTrace(files[0])
