"""The trace format as data, read from the one place that describes it: trace_format.h beside this file, and the headers of
trace/ that it includes.

The headers are plain C++ for those who write and read records, and a schema for everybody else. What is taken from them:

    #include <plumb/trace/heap.h>             is read in its place, once
    X(9, PathNode, "what it is")              a record and its number, in PLUMB_TRACE_RECORDS
    enum EndKind : uint32_t { none = 0, .. }  an enumeration; one whose values are shifts is a set of flags
    struct PathNode {                         a record's fields, after its RecordHeader, one a line:
        Address address; // 16  what it is    the offset may be left out, but must be right

A field's type says how it is shown (StringId, NodeId, Address, Opaque, char[], uint8_t[], other arrays), its name that it means
nothing (padding, reserved), and a comment that begins with the name of an enumeration that its values are of that one.
A line that is none of these is an error: nothing in the headers goes unread.

As a program: trace_format.py OUTPUT DEPFILE writes the catalogue of fields that analyzer/trace/file/record_fields.cpp includes, and
the headers that it was made from, as a rule of make.
"""

import dataclasses
import json
import pathlib
import re
import struct
import sys

HEADER = pathlib.Path(__file__).with_name("trace_format.h")
# Type -> (format of `struct`, bytes)
TYPES = {"uint8_t": ("B", 1), "uint16_t": ("H", 2), "int16_t": ("h", 2), "uint32_t": ("I", 4), "int32_t": ("i", 4),
         "uint64_t": ("Q", 8), "int64_t": ("q", 8), "char": ("s", 1), "RecordHeader": (None, 8)}
ALIAS_KINDS = {"StringId": "string", "NodeId": "node", "Address": "address", "Opaque": "address"}
NO_MEANING = ("padding", "reserved")

INCLUDED = re.compile(r"#include <(plumb/trace/\w+\.h)>$")
DECLARED = re.compile(r"X\((\d+), (\w+), *(\"(?:[^\"\\]|\\.)*\")\)$")
ALIAS = re.compile(r"using (\w+) = (\w+);(?: *//|$)")
ENUM = re.compile(r"enum (?:class )?(\w+) : (\w+) \{(.*)$")
STRUCT = re.compile(r"struct (\w+) \{$")
FIELD = re.compile(r"(\w+) (\w+)(?:\[(\d+)\])?; *(?:// *(?:(\d+)(?: +|$))?(.*))?$")
VALUE = re.compile(r"(\w+) = (1u << \d+|\d+)(?:,|$) *(?:// *(.*))?")
# What the format's users need not know about: constants, checks, the preprocessor.
OTHER = re.compile(r"(?:$|//|#|inline constexpr |static_assert\(|namespace |\} // namespace )")


class FormatError(Exception):
    pass


@dataclasses.dataclass
class Field:
    name: str
    type: str  # as declared
    code: str  # of `struct`, for one element
    offset: int  # bytes, from the beginning of the record
    element_bytes: int
    count: int  # elements, 0: not an array
    what: str
    kind: str = ""  # as in analyzer/trace/file/record_fields.h
    enumeration: str = ""  # its name; "": none

    @property
    def size(self):
        return self.element_bytes * max(self.count, 1)


@dataclasses.dataclass
class Struct:
    name: str
    notes: str  # the comment before it
    fields: list = dataclasses.field(default_factory=list)
    size: int = 0
    number: int = 0  # 0: a header, not a record
    what: str = ""


@dataclasses.dataclass
class Enumeration:
    name: str
    values: dict = dataclasses.field(default_factory=dict)  # number -> (name, what)
    is_flags: bool = False


class Format:
    """`structs` and `enumerations` by name in the order of the headers, `records` by number, `paths` of all headers."""

    def __init__(self, path=HEADER):
        self.path, self.paths, self.structs, self.enumerations = path, [], {}, {}
        self._aliases, self._declared = {}, {}
        self._read(path)
        for entry in self.structs.values():
            for field in entry.fields:
                self._interpret(field)
        self.records = {}
        for name, (number, what) in self._declared.items():
            if name not in self.structs:
                raise FormatError(f"{path}: {name} is in PLUMB_TRACE_RECORDS and has no struct")
            self.records[number] = self.structs[name]
            self.structs[name].number, self.structs[name].what = number, what

    def _read(self, path):
        if path in self.paths:
            return
        self.paths.append(path)
        lines = enumerate(path.read_text().splitlines(), 1)
        self._at, self._lines, self._comment = path, lines, []
        for self._number, line in lines:
            line = line.strip().rstrip("\\").rstrip()
            if match := INCLUDED.match(line):
                self._read(self.path.parents[1] / match[1])
                self._at, self._lines, self._comment = path, lines, []
            else:
                self._top_level(line)

    def value(self, enumeration, name):
        return next(value for value, (known, _) in self.enumerations[enumeration].values.items() if known == name)

    def name(self, enumeration, value):
        return self.enumerations[enumeration].values[value][0]

    def _refuse(self, why):
        raise FormatError(f"{self._at}:{self._number}: {why}")

    def _top_level(self, line):
        if line.startswith("//"):
            self._comment.append(line[2:].strip())
            return
        if match := DECLARED.match(line):
            number, name, what = int(match[1]), match[2], json.loads(match[3])
            if name in self._declared or number in (known for known, _ in self._declared.values()):
                self._refuse(f"{number} {name} is declared twice")
            self._declared[name] = (number, what)
        elif match := ALIAS.match(line):
            self._aliases[match[1]] = match[2]
        elif match := ENUM.match(line):
            self._enumeration(match[1], match[3])
        elif match := STRUCT.match(line):
            self._struct(match[1])
        elif not OTHER.match(line):
            self._refuse(f"neither a record, an enumeration nor a field: {line}")
        self._comment = []

    def _enumeration(self, name, rest):
        entry = self.enumerations[name] = Enumeration(name)
        if rest.endswith("};"): # all in one line
            for part in rest[:-2].split(","):
                self._value(entry, part.strip())
            return
        for self._number, line in self._lines:
            line = line.strip()
            if line == "};":
                return
            if not line.startswith(("//", "#", "PLUMB_TRACE_RECORDS")): # RecordType expands the list
                self._value(entry, line)

    def _value(self, entry, text):
        match = VALUE.match(text)
        if not match:
            self._refuse(f"not a value of {entry.name}: {text}")
        shift = match[2].startswith("1u")
        entry.is_flags |= shift
        entry.values[1 << int(match[2].split()[-1]) if shift else int(match[2])] = (match[1], match[3] or "")

    def _struct(self, name):
        entry = self.structs[name] = Struct(name, " ".join(self._comment))
        for self._number, line in self._lines:
            line = line.strip()
            if line == "};":
                return
            if not line.startswith("//"):
                self._field(entry, line)

    def _field(self, entry, line):
        match = FIELD.match(line)
        plain = match and self._aliases.get(match[1], match[1])
        if not match or plain not in TYPES:
            self._refuse(f"not a field of {entry.name}: {line}")
        declared, name, count, offset, what = match[1], match[2], int(match[3] or 0), match[4], match[5] or ""
        code, element_bytes = TYPES[plain]
        if entry.size % element_bytes and code:
            self._refuse(f"{entry.name}::{name} would not be aligned at {entry.size}: declare the padding before it")
        if offset is not None and int(offset) != entry.size:
            self._refuse(f"{entry.name}::{name} is at {entry.size}, its comment says {offset}")
        if code:
            entry.fields.append(Field(name, declared, code, entry.size, element_bytes, count, what))
        entry.size += element_bytes * max(count, 1)

    def _interpret(self, field):
        first_word = re.match(r"\w*", field.what)[0]
        field.enumeration = first_word if first_word in self.enumerations else ""
        if field.name in NO_MEANING:
            field.kind = "padding"
        elif field.count:
            field.kind = {"char": "text", "uint8_t": "bytes"}.get(field.type, "list")
        elif field.enumeration and self.enumerations[field.enumeration].is_flags:
            field.kind = "flags"
        else:
            field.kind = ALIAS_KINDS.get(field.type, "number")


def decode(entry, data, at, size):
    """The fields of the record or header at data[at : at + size] by name; those that an older writer did not have are
    left out, and so is padding."""
    values = {}
    for field in entry.fields:
        if field.kind == "padding" or field.offset + field.size > size:
            continue
        bytes_of = field.kind in ("bytes", "text")
        found = struct.unpack_from(f"<{field.size}s" if bytes_of else f"<{max(field.count, 1)}{field.code}", data,
                                   at + field.offset)
        if field.kind == "text":
            values[field.name] = found[0].split(b"\0")[0].decode(errors="replace")
        else:
            values[field.name] = list(found) if field.count and not bytes_of else found[0]
    return values


def quoted(text):
    return json.dumps(text, ensure_ascii=False)


def catalogue(schema):
    """C++: an array of fields for each struct, which the compiler checks, and the tables of records and enumerations."""
    lines = [f"// Generated from {schema.path.name}; included by record_fields.cpp alone."]
    for entry in schema.structs.values():
        lines += ["", f"static_assert(sizeof({entry.name}) == {entry.size});",
                  f"constexpr Field fields_of_{entry.name}[] = {{"]
        for field in entry.fields:
            lines.append(f"    {{{quoted(field.name)}, FieldKind::{field.kind}, {field.offset}, {field.size}, "
                         f"{'true' if field.code in 'hiq' else 'false'}, {quoted(field.what)}}},")
        lines.append("};")
        lines += [f"static_assert(offsetof({entry.name}, {field.name}) == {field.offset} && "
                  f"sizeof({entry.name}::{field.name}) == {field.size});" for field in entry.fields]
    describe = lambda entry: (f"    {{{entry.number}, {quoted(entry.name)}, {quoted(entry.what or entry.notes)}, "
                              f"{entry.size}, fields_of_{entry.name}, {quoted(entry.notes if entry.what else '')}}},")
    lines += ["", "constexpr RecordDescription records[] = {"]
    lines += [describe(entry) for entry in schema.records.values()]
    lines += ["};", "", "constexpr RecordDescription headers[] = {"]
    lines += [describe(entry) for entry in schema.structs.values() if not entry.number]
    lines.append("};")
    named = [entry for entry in schema.enumerations.values() if entry.values]
    for entry in named:
        lines += ["", f"constexpr EnumerationValue values_of_{entry.name}[] = {{"]
        lines += [f"    {{{number}, {quoted(name)}, {quoted(what)}}}," for number, (name, what) in entry.values.items()]
        lines.append("};")
    lines += ["", "constexpr Enumeration enumerations[] = {"]
    lines += [f"    {{{quoted(entry.name)}, values_of_{entry.name}}}," for entry in named]
    lines.append("};")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    output, depfile = sys.argv[1:]
    try:
        schema = Format()
        pathlib.Path(output).write_text(catalogue(schema))
        pathlib.Path(depfile).write_text(f"{output}: {' '.join(str(path).replace(' ', chr(92) + ' ') for path in schema.paths)}\n")
    except FormatError as error:
        sys.exit(str(error))
