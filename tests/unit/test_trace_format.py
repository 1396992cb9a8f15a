"""What trace_format.py reads from trace_format.h, and what it refuses.

usage: test_trace_format.py SOURCE_ROOT
"""

import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(ROOT / "include" / "plumb"))

import trace_format

HEADER = """
#define PLUMB_TRACE_RECORDS(X) \\
    X(7, Thing, "what it \\"is\\"")
enum class Kind : uint32_t { small = 1, large = 2 };
enum Flags : uint32_t {
    kOld = 1u << 0, // of another version
    kNew = 1u << 3,
};
using StringId = uint32_t;
// Two lines
// of notes.
struct Thing {
    RecordHeader header; // header.tid: the thread
    StringId name;       //  8  of it
    uint32_t kind;       // 12  Kind
    uint32_t flags;      // Flags, updated
    uint8_t code[3];
    uint8_t padding;
};
"""


class TraceFormat(unittest.TestCase):
    def read(self, text, **parts):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "plumb" / "format.h"
            (path.parent / "trace").mkdir(parents=True)
            path.write_text(text)
            for name, part in parts.items():
                (path.parent / "trace" / f"{name}.h").write_text(part)
            return trace_format.Format(path)

    def test_all_of_a_header(self):
        schema = self.read(HEADER)
        thing = schema.records[7]
        self.assertEqual((thing.name, thing.what, thing.notes, thing.size),
                         ("Thing", 'what it "is"', "Two lines of notes.", 24))
        self.assertEqual([(field.name, field.kind, field.offset, field.size, field.enumeration, field.what)
                          for field in thing.fields],
                         [("name", "string", 8, 4, "", "of it"), ("kind", "number", 12, 4, "Kind", "Kind"),
                          ("flags", "flags", 16, 4, "Flags", "Flags, updated"), ("code", "bytes", 20, 3, "", ""),
                          ("padding", "padding", 23, 1, "", "")])
        self.assertEqual(schema.enumerations["Flags"].values, {1: ("kOld", "of another version"), 8: ("kNew", "")})

    def test_a_header_in_parts(self):
        catalogue, rest = HEADER.split("enum class Kind", 1)
        kind, thing = rest.split("enum Flags", 1)
        schema = self.read("#include <plumb/trace/thing.h>\n#include <plumb/trace/kind.h>\n" + catalogue,
                           thing="#include <plumb/trace/kind.h>\nenum Flags" + thing, kind="enum class Kind" + kind)
        self.assertEqual([path.name for path in schema.paths], ["format.h", "thing.h", "kind.h"])
        self.assertEqual([field.enumeration for field in schema.records[7].fields], ["", "Kind", "Flags", "", ""])
        with self.assertRaisesRegex(trace_format.FormatError, r"thing\.h:3: "):
            self.read("#include <plumb/trace/thing.h>\n" + catalogue, thing="\n\nclass Thing {\n};\n")

    def test_a_record_of_an_older_writer_lacks_fields(self):
        thing = self.read(HEADER).records[7]
        data = bytes(8) + bytes([1, 0, 0, 0, 2, 0, 0, 0, 8, 0, 0, 0, 0xAA, 0xBB, 0xCC, 0])
        self.assertEqual(trace_format.decode(thing, data, 0, 24),
                         {"name": 1, "kind": 2, "flags": 8, "code": b"\xaa\xbb\xcc"})
        self.assertEqual(trace_format.decode(thing, data, 0, 16), {"name": 1, "kind": 2})

    def test_what_is_refused(self):
        for old, new in [("12  Kind", "13  Kind"),  # another offset
                         ("uint32_t kind; ", "uint64_t kind; "),  # the offsets behind it are wrong
                         ("uint8_t code[3];", "uint8_t code[3]"), ("uint8_t code[3];", "std::string code;"),
                         ("uint8_t padding;", "uint64_t late;"),  # the compiler would put a hole before it
                         ("kNew = 1u << 3,", "kNew = kOld,"),
                         ("struct Thing {", "class Thing {"), ("struct Thing {", "struct Other {"),
                         ("X(7, Thing,", 'X(7, String, "") X(7, Thing,'),
                         ("    X(7, Thing,", '    X(7, String, "") \\\n    X(7, Thing,')]:
            with self.subTest(new):
                self.assertIn(old, HEADER)
                with self.assertRaises(trace_format.FormatError):
                    self.read(HEADER.replace(old, new))

    def test_the_format_itself(self):
        schema = trace_format.Format()
        self.assertEqual({path.name for path in schema.paths[1:]},
                         {path.name for path in (ROOT / "include" / "plumb" / "trace").glob("*.h")})
        for number, entry in schema.records.items():
            self.assertEqual(entry.size % 8, 0, entry.name)
            self.assertEqual(entry.fields[0].offset, 8, entry.name)
        used = {field.enumeration for entry in schema.structs.values() for field in entry.fields}
        self.assertEqual(set(schema.enumerations) - used, set(), "no field says that its values are of these")


if __name__ == "__main__":
    unittest.main()
