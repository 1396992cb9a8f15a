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
    "statistics": {"support"}, # knows nothing of runs
    "platform": {"support"},
    "model": {"support", "platform"},
    "noise": {"support", "model"}, # classes of noise, from losses and from files
    "simulate": {"support", "model", "noise"}, # jobs under classes of noise
    "network": {"support"}, # machines of many nodes, and jobs in them, as numbers: knows nothing of runs
    "trace": {"support", "platform", "model"},
    "symbols": {"support", "platform", "model"},
    "kernel_log": {"support", "model", "symbols"}, # what a kernel wrote of programs, with their lines
    "placement": {"support", "platform", "model"},
    "unwind": {"support", "platform"},
    "record": {"support", "platform", "symbols", "placement", "unwind"}, # of the trace it knows the format, not the reader
    "code": {"record"}, # what functions' machine code does; of the recorder it knows what one instruction does to a register
    "team": {"support"}, # knows nothing of what its processes hand to one another
    "replay": {"support", "model", "noise", "trace", "team"}, # lays the events of MPI ranks side by side; fills the model before diagnoses
    "analyses": {"support", "model", "noise", "code"}, # what several diagnoses and reports need of a run; knows no finding
    "diagnoses": {"support", "model", "noise", "network", "kernel_log", "code", "analyses"},
    "analysis": {"support", "platform", "model", "noise", "trace", "symbols", "kernel_log", "team", "replay", "analyses", "diagnoses"}, # the pipeline
    "compare": {"support", "statistics", "model", "trace", "analyses", "diagnoses", "analysis"}, # several runs
    "repeat": {"support", "statistics", "trace", "compare", "analyses", "diagnoses", "analysis", "model"}, # records runs through plumb run
    "scale": {"support", "statistics", "repeat", "compare", "analyses", "diagnoses", "analysis", "model"}, # a sweep is a series of runs
    "trial": {"support", "statistics", "platform", "repeat", "analyses", "diagnoses", "analysis", "model"}, # runs of a command with cures
    "probe": {"support", "statistics", "platform", "record"}, # the machine itself: knows nothing of runs
    "reports": {"network", "kernel_log", "probe", "trial", "scale", "repeat", "compare", "statistics", "support", "model", "noise", "simulate", "replay", "analyses", "diagnoses", "analysis"}, # replay: of a timeline
    "commands": {"network", "kernel_log", "probe", "trial", "scale", "repeat", "compare", "support", "platform", "model", "noise", "simulate", "trace", "symbols", "placement", "record", "team", "replay", "analyses", "diagnoses", "analysis", "reports"},
}
# What is shared with the shim: its unwinder, which the recorder runs on stack samples, and its instruction decoder.
SHARED_WITH_THE_SHIM = {"platform/unwind": {"unwind"}, "platform/code/decoder": {"platform", "record", "code", "analyses", "symbols", "unwind"},
                        "platform/code/memory_instruction": {"platform", "record", "code", "symbols", "unwind"}, # symbols: names data
                        "platform/code/a64_instruction": {"record", "symbols"},
                        "platform/code/zydis": {"record", "code"}}
PRELOAD = {"platform": set(), "record": {"platform"}, "hooks": {"platform", "record"}, "strings": {"platform"}}

# Libraries that one part alone may know.
OWNERS = {
    "elfutils": (re.compile(r"^(elfutils/|gelf\.h|libelf\.h|dwarf\.h)"), {"symbols"}),
    "CLI11": (re.compile(r"^CLI/"), {"commands", "placement"}), # placement: the options that two commands share
    "PAPI": (re.compile(r"^papi"), {"record"}),
    "SQLite": (re.compile(r"^sqlite3\.h$"), {"probe"}),
    "zlib": (re.compile(r"^zlib\.h$"), {"unwind"}),
    "Eigen": (re.compile(r"^Eigen/"), {"scale"}),
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
                is_shared = not (folder / name).exists() and any(name.startswith(start) and part in users
                                                                 for start, users in SHARED_WITH_THE_SHIM.items())
                if quoted and target != part and target in rules and target not in rules[part] and not is_shared:
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
    """The folders inside a part include only the rooms that this table, and the README of their part, allow."""

    # Part -> its rooms in order of dependence, each with those of the rooms before it that it may include.
    PARTS = {
        "analyzer/trace": {"file": "", "context": "file", "builders": "file context"},
        "analyzer/symbols": {"elf": "", "dwarf": "elf", "data": "elf dwarf"},
        "analyzer/record": {"run": "", "perf": "run", "calibrate": "run perf", "counters": "run perf", "access": "run perf calibrate",
                            "watch": "run perf calibrate access", "noise": "run perf watch", "system": "run perf watch"},
        "analyzer/record/access": {"code": "", "loops": "code", "sampling": "code loops", "walks": "sampling", "sharing": "sampling",
                                   "replay": "loops sampling", "traffic": "loops sampling"},
        "analyzer/record/watch": {"goroutines": "", "threads": "", "memory": "", "node": ""},
        "analyzer/replay": {"events": "", "collectives": "events", "messages": "events", "pending": "events",
                            "noise": "events collectives messages"},
        "analyzer/analyses": {"lines": "", "noise": "", "system": "", "time": "lines", "memory": "lines", "accesses": "time lines",
                               "loops": "lines"},
        "analyzer/diagnoses": {"common": "", "cpu": "common", "access": "common", "memory": "common access", "sharing": "common access",
                               "heap": "common", "kernel": "common access", "machine": "common kernel memory", "mpi": "common", "openmp": "common", "wait": "common",
                               "code": "common", "noise": "common mpi openmp"},
        "analyzer/probe": {"measure": "", "judge": "", "history": "judge", "watch": "measure judge"},
        "analyzer/reports": {"words": "", "text": "words", "json": "words", "html": "words json", "timeline": "words json"},
        "preload/platform": {"os": "", "code": "os", "elf": "os", "unwind": "os"},
        "preload/record": {"process": "", "paths": "process", "signals": "process", "pin": "process", "heap": "process paths",
                           "timer": "process paths signals", "align": "process paths signals heap timer",
                           "mpi": "process paths heap", "openmp": "process paths mpi"},
        "preload/record/align": {"code": "", "rewriting": "", "sites": "rewriting", "trap": "code rewriting sites"},
        "preload/record/mpi": {"tables": "", "library": "", "communicators": "tables library", "events": "tables communicators",
                               "calls": "tables library communicators events"},
    }

    def test_every_room_has_its_rule_and_the_rules_go_one_way(self):
        for part, rooms in self.PARTS.items():
            here = {path.name for path in (ROOT / part).iterdir() if path.is_dir() and sources(path)}
            self.assertEqual(here, set(rooms), part)
            for number, (room, known) in enumerate(rooms.items()):
                self.assertLessEqual(set(known.split()), set(list(rooms)[:number]), f"{part}/{room}")

    def test_know_those_in_the_table_alone(self):
        wrong = []
        for part, rooms in self.PARTS.items():
            prefix = part.split("/", 1)[1] + "/" # as includes begin that name files of the part
            for path in sources(ROOT / part):
                room = path.relative_to(ROOT / part).parts[0]
                for quoted, name in includes(path):
                    target = name.removeprefix(prefix).split("/")[0]
                    if room in rooms and quoted and name.startswith(prefix) and target in rooms and \
                            target not in (room, *rooms[room].split()):
                        wrong.append(f"{path.relative_to(ROOT)} includes {name}: {room} must not know {target}")
        self.assertEqual(wrong, [])


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
