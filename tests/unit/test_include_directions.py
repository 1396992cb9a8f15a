"""The directions of DESIGN: who may include whom in analyzer/ and preload/, and every header compiles on its own.

usage: test_include_directions.py SOURCE_ROOT COMPILER...
A header that its own .cpp includes first is proven to stand alone by the build; the others are compiled here.
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1])
COMPILER = sys.argv[2:]
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)

# Each part with what it may include beside itself and include/.
ANALYZER = {
    "precompiled": set(), # headers of libraries only
    "support": set(),
    "platform": {"support"},
    "model": {"support", "platform"},
    "trace": {"support", "platform", "model"},
    "symbols": {"support", "platform", "model"},
    "placement": {"support", "platform", "model"},
    "unwind": {"support", "platform"},
    "record": {"support", "platform", "placement", "unwind"}, # of the trace it knows the format, not the reader
    "team": {"support"}, # knows nothing of what its processes hand to one another
    "replay": {"support", "model", "trace", "team"}, # lays the events of MPI ranks side by side; fills the model before diagnoses
    "analyses": {"support", "model"}, # what several diagnoses and reports need of a run; knows no finding
    "diagnoses": {"support", "model", "analyses"},
    "analysis": {"support", "platform", "model", "trace", "symbols", "team", "replay", "analyses", "diagnoses"}, # the pipeline
    "reports": {"support", "model", "replay", "analyses", "diagnoses", "analysis"}, # replay: of a timeline
    "commands": {"support", "platform", "model", "trace", "symbols", "placement", "record", "team", "replay", "analyses", "diagnoses", "analysis", "reports"},
}
# What is shared with the shim: its unwinder, which the recorder runs on stack samples, and its instruction decoder.
SHARED_WITH_THE_SHIM = {"platform/unwind": {"unwind"}, "platform/code/decoder": {"platform", "record"},
                        "platform/code/memory_instruction": {"platform", "record", "symbols", "unwind"}, # symbols: names data
                        "platform/code/zydis": {"record"}}
PRELOAD = {"platform": set(), "record": {"platform"}, "hooks": {"platform", "record"}, "strings": {"platform"}}

# Libraries that one part alone may know.
OWNERS = {
    "elfutils": (re.compile(r"^(elfutils/|gelf\.h|libelf\.h|dwarf\.h)"), {"symbols"}),
    "CLI11": (re.compile(r"^CLI/"), {"commands", "placement"}), # placement: the options that two commands share
    "hwloc": (re.compile(r"^hwloc"), {"platform", "placement", "record"}),
}


def sources(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cpp", ".c", ".S"))


def includes(path):
    return [(kind == '"', name) for kind, name in INCLUDE.findall(path.read_text())]


def first_own_include(path):
    return next((name for quoted, name in includes(path) if quoted), None)


class Directions(unittest.TestCase):
    def check(self, folder, rules):
        wrong = []
        for path in sources(folder):
            part = path.relative_to(folder).parts[0]
            if part not in rules:
                if len(path.relative_to(folder).parts) > 1:
                    wrong.append(f"{path.relative_to(ROOT)}: folder {part} has no rule in this test")
                continue
            for quoted, name in includes(path):
                target = name.split("/")[0]
                if quoted and target != part and target in rules and target not in rules[part]:
                    wrong.append(f"{path.relative_to(ROOT)} includes {name}: {part} must not know {target}")
        self.assertEqual(wrong, [])

    def test_analyzer(self):
        self.check(ROOT / "analyzer", ANALYZER)

    def test_preload(self):
        self.check(ROOT / "preload", PRELOAD)

    def test_the_shim_does_not_see_the_analyzer_nor_the_other_way_round(self):
        wrong = [f"{path.relative_to(ROOT)} includes {name}"
                 for side, other in (("preload", "analyzer"), ("analyzer", "preload"))
                 for path in sources(ROOT / side) for quoted, name in includes(path)
                 if quoted and not (ROOT / side / name).exists() and not (path.parent / name).exists()
                 and (ROOT / other / name).exists()
                 and not (side == "analyzer" and any(name.startswith(start) and path.relative_to(ROOT / side).parts[0] in users
                                                     for start, users in SHARED_WITH_THE_SHIM.items()))]
        self.assertEqual(wrong, [])

    def test_the_contract_depends_on_nothing(self):
        wrong = [f"{path.relative_to(ROOT)} includes {name}"
                 for path in sources(ROOT / "include" / "plumb") for quoted, name in includes(path)
                 if quoted or not re.match(r"^(plumb/(trace/)?\w+|std\w+)\.h$", name)]
        self.assertEqual(wrong, [])

    def test_libraries_stay_with_their_owners(self):
        wrong = []
        for path in sources(ROOT / "analyzer"):
            part = path.relative_to(ROOT / "analyzer").parts[0]
            for _, name in includes(path):
                for library, (pattern, owners) in OWNERS.items():
                    if pattern.match(name) and part not in owners and len(path.relative_to(ROOT).parts) > 2:
                        wrong.append(f"{path.relative_to(ROOT)} includes {name}: {library} belongs to {sorted(owners)}")
        self.assertEqual(wrong, [])


class Rooms(unittest.TestCase):
    """The folders inside a part include one another in one direction only, and never the face of the part, the files
    beside them, except where those are for all rooms."""

    PARTS = ("analyzer/record", "analyzer/record/access", "analyzer/record/watch", "analyzer/analyses",
             "analyzer/diagnoses", "analyzer/symbols", "analyzer/trace", "analyzer/replay", "analyzer/reports",
             "preload/record", "preload/record/mpi", "preload/platform")

    def rooms_known_by(self, part):
        """Room -> rooms that its files include."""
        known = {}
        prefix = part.split("/", 1)[1] + "/" # as includes begin that name files of the part
        for path in sources(ROOT / part):
            below = path.relative_to(ROOT / part).parts
            if len(below) == 1:
                continue
            for quoted, name in includes(path):
                room = name.removeprefix(prefix).split("/")[0]
                if quoted and name.startswith(prefix) and (ROOT / part / room).is_dir():
                    known.setdefault(below[0], {}).setdefault(room, f"{path.relative_to(ROOT)} includes {name}")
        return known

    def test_know_one_another_in_one_direction(self):
        for part in self.PARTS:
            known = self.rooms_known_by(part)
            self.assertTrue(known, part)

            def circle(room, trail):
                if room in trail:
                    return [*trail[trail.index(room):], room]
                return next(filter(None, (circle(next_room, [*trail, room])
                                          for next_room in known.get(room, {}) if next_room != room)), None)

            for room in known:
                found = circle(room, [])
                self.assertIsNone(found, found and [known[a][b] for a, b in zip(found, found[1:])])


class Headers(unittest.TestCase):
    def test_each_compiles_on_its_own(self):
        failed = []
        for folder in (ROOT / "include", ROOT / "analyzer", ROOT / "preload"):
            for header in sources(folder):
                if header.suffix != ".h":
                    continue
                name = str(header.relative_to(folder))
                body = header.with_suffix(".cpp")
                if body.exists() and first_own_include(body) == name:
                    continue
                done = subprocess.run([*COMPILER, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror",
                                       f"-I{folder}", f"-I{ROOT / 'preload'}", f"-I{ROOT / 'include'}", "-x", "c++", "-"],
                                      input=f'#include "{name}"\n', capture_output=True, text=True)
                if done.returncode != 0:
                    failed.append(f"{header.relative_to(ROOT)}:\n{done.stderr[:500]}")
        self.assertEqual(failed, [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
