"""A second reader of trace files, which shares with the analyzer only the description of the format
(include/plumb/trace_format.py): what tests look with, since they must not trust the reader that they test."""

import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "include" / "plumb"))

import trace_format

FORMAT = trace_format.Format()
FILE, CHUNK, RECORD = (FORMAT.structs[name] for name in ("FileHeader", "ChunkHeader", "RecordHeader"))
STRING = next(number for number, entry in FORMAT.records.items() if entry.name == "String")
CHUNK_MAGIC = int.from_bytes(b"CHNK", "little")
CLOSED, FULL = (FORMAT.value("FileFlags", name) for name in ("kClosed", "kFull"))


class Trace:
    """One file: its header's fields and `records`, a list of dictionaries in file order: "type", "tid" and the fields
    that the writer knew. Texts stand for their ids, which have the name of the field and "_id". Raises ValueError where
    the file is not what the format promises."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        data = self.path.read_bytes()
        header = trace_format.decode(FILE, data, 0, FILE.size) if len(data) >= FILE.size else {}
        if data[:8] != b"PLUMBTR\n" or header["header_size"] != FILE.size:
            raise ValueError(f"{path}: no trace")
        self.size, self.flags, self.pid = len(data), header["flags"], header["pid"]
        self.start_ticks, self.used = header["pid_start_ticks"], header["next_chunk"]
        self.dropped, self.own_cost_ns = header["dropped_records"], header["own_cost_ns"]
        self.records, self.strings = [], {0: None}
        at = FILE.size
        while at < FILE.size + self.used:
            chunk = trace_format.decode(CHUNK, data, at, CHUNK.size)
            if chunk["magic"] == 0:
                break
            if chunk["magic"] != CHUNK_MAGIC or chunk["committed"] > chunk["size"] - CHUNK.size:
                raise ValueError(f"{path}: damaged chunk at {at}")
            self._read_records(data, at + CHUNK.size, at + CHUNK.size + chunk["committed"])
            at += chunk["size"]
        for entry in self.records:
            for field in FORMAT.structs[entry["type"]].fields:
                if field.kind == "string" and field.name in entry:
                    entry[field.name + "_id"] = entry[field.name]
                    entry[field.name] = self.strings.get(entry[field.name])

    def _read_records(self, data, at, end):
        while at < end:
            number, length, tid = struct.unpack_from("<HHI", data, at)
            if length < RECORD.size or length % 8 or at + length > end:
                raise ValueError(f"{self.path}: damaged record at {at}")
            if number in FORMAT.records:
                kind = FORMAT.records[number]
                entry = {"type": kind.name, "tid": tid, **trace_format.decode(kind, data, at, length)}
                if number == STRING:
                    self.strings[entry["id"]] = data[at + kind.size:at + kind.size + entry["length"]].decode(
                        errors="replace")
                else:
                    self.records.append(entry)
            at += length

    def of(self, kind):
        return [entry for entry in self.records if entry["type"] == kind]

    def evidence(self):
        """source -> (state, why, enable); states are those of EvidenceState."""
        return {entry["source"]: (entry["state"], entry["why"] or "", entry["enable"] or "")
                for entry in self.of("Evidence")}

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
        ends = [(FORMAT.name("EndKind", entry["kind"]), entry["status"]) for entry in self.of("ProcessEnd")
                if entry["kind"]]
        return ends[-1] if ends else None
