"""plumb's unwinder of copied stacks beside libunwind and libdwfl, on programs that Debian has and on a few of our own.

usage: test_unwinders.py UNWIND_WITNESS
UNWIND_WITNESS samples each program and compares the three frame by frame. A disagreement passes only where the witness finds
its reason: see comparison.h.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

WITNESS = pathlib.Path(sys.argv[1]).resolve()
SOURCES = pathlib.Path(__file__).resolve().parent / "programs"
SKIPPED = 77

LEAST_PROGRAMS = 20
LEAST_ADDRESSES = 10000

# Text that the programs work on.
NUMBERS = "\n".join(str(i * 7919 % 1000003) for i in range(300000)) + "\n"
PROSE = "The quick brown fox jumps over the lazy dog, and the river runs to the sea. " * 40
CPP = """#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main() {
    std::map<std::string, int> found;
    const std::regex expression("a(b|c)*d");
    for (int i = 0; i < 1000; ++i)
        found[std::to_string(i)] += std::regex_match("abcd", expression);
    std::cout << found.size();
}
"""
FORTRAN = "program sums\n" + "".join(
    f"real(8) :: a{i}(40,40), b{i}(40,40)\n" for i in range(60)) + "".join(
    f"a{i} = {i}.5; b{i} = matmul(a{i}, transpose(a{i})) + spread(a{i}(:,1), 1, 40)\n" for i in range(60)) + "print *, b1\nend program\n"
JAVA = """import java.util.*;
public class Trees {
    public static void main(String[] arguments) {
        long sum = 0, end = System.nanoTime() + 1500000000L;
        while (System.nanoTime() < end) {
            TreeMap<String, Integer> tree = new TreeMap<>();
            for (int i = 0; i < 2000; i++)
                tree.put("key" + i * 7919 % 2000, i);
            for (int value : tree.values())
                sum += value;
        }
        System.out.println(sum);
    }
}
"""
SQL = """with recursive numbers(n) as (values(1) union all select n + 1 from numbers where n < 400000)
select n % 97, count(*), sum(n * n % 11), max(hex(n)) from numbers group by 1 order by 3 desc;
with recursive numbers(n) as (values(1) union all select n + 1 from numbers where n < 100000)
select count(distinct json_extract('{"a":[' || n || ']}', '$.a[0]')) from numbers;"""
PYTHON = """import json, re
for i in range(600):
    json.loads(json.dumps([re.sub("a(b|c)", "x" + str(j), "abc" * 20) for j in range(100)], indent=1))
    sorted({str(j): {j} for j in range(500)}.items())"""
PERL = r'my %h; for my $i (1..2000000) { $h{"k".($i%1000)} .= "x" if $i%3; $_ = "abc$i"; s/b(c)/x$1/; @a = sort map { $_*7%13 } 1..5 }'
NODE = """const all = {}; for (let i = 0; i < 500000; ++i) all["k" + i % 5000] = [i, String(i)];
const text = JSON.stringify(all);
for (let i = 0; i < 60; ++i) JSON.parse(text);
function steps(n) { return n < 2 ? n : steps(n - 1) + steps(n - 2); }
for (let i = 0; i < 10; ++i) steps(28);
for (let i = 0; i < 200; ++i) text.replace(/k(\\d+)/g, "$1x");"""
AWK = "{ a[$1 % 1000] += $1 * 3; s = s substr($0, 1, 1); gsub(/1+/, \"<&>\") } END { for (k in a) n += a[k]; print length(s), n }"
TROFF = ".TH A 1\n" + "".join(f".SH PART {i}\n.B Bold\nand\n.I slanted\nwords, {PROSE[:2000]}\n" for i in range(300))
MARKDOWN = "".join(f"# Part {i}\n\n* one\n* two **bold** [link](http://host/{i})\n\n{PROSE[:500]}\n\n" for i in range(3000))
NINJA = "rule copy\n command = cp $in $out\n" + "".join(f"build out/{i}: copy in.txt | out/{i - 1}\n" if i else "build out/0: copy in.txt\n"
                                                        for i in range(60000))
SHELL = 'for ((i = 0; i < 200000; i++)); do x="$x${i//1/a}"; [[ $x == *zz* ]] && y=$x; x=${x:0:50}; done'

# {} is a large program.
COMMANDS = [
    ["g++", "-std=c++20", "-O1", "-c", "main.cpp", "-o", "/dev/null"],
    ["clang++-14", "-std=c++20", "-O1", "-c", "main.cpp", "-o", "/dev/null"],
    ["gfortran", "-O2", "-c", "sums.f90", "-o", "/dev/null"],
    ["/usr/bin/python3", "-c", PYTHON],
    ["perl", "-e", PERL],
    ["node", "-e", NODE],
    ["java", "-Xmx256m", "Trees"],
    ["javac", "-d", "classes", "Trees.java"],
    ["sqlite3", ":memory:", SQL],
    ["gdb", "-batch", "-ex", "info functions main", "{}"],
    ["readelf", "-aW", "{}"],
    ["objdump", "-d", "{}"],
    ["nm", "-DC", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"],
    ["xz", "-T1", "-kc", "numbers.txt"],
    ["openssl", "speed", "-seconds", "1", "rsa2048", "ecdsap256"],
    ["awk", AWK, "numbers.txt"],
    ["sort", "-n", "numbers.txt"],
    ["sort", "--parallel=2", "-k1.2", "numbers.txt"],
    ["busybox", "sort", "-n", "numbers.txt"],
    ["busybox", "awk", AWK, "numbers.txt"],
    ["qemu-system-x86_64", "-accel", "tcg", "-m", "64", "-display", "none", "-nodefaults", "-net", "none"],
    ["ninja", "-n", "-d", "stats"],
    ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2", "sort", "numbers.txt"],
    ["git", "-c", "user.name=a", "-c", "user.email=a", "diff", "--no-index", "--stat", "numbers.txt", "shuffled.txt"],
    ["bash", "-c", SHELL],
    ["sed", "-E", "s/(1|2)+/<&>/g; s/([3-5])(.)/\\2\\1/g", "numbers.txt"],
    ["gzip", "-9c", "numbers.txt"],
    ["groff", "-man", "-Tutf8", "page.1"],
    ["lowdown", "page.md"],
]

# Our own: what compilers and programmers do rarely. Name, compiler, flags.
SPECIAL = [
    ("debug_frame", "hidden.c", ["cc", "-O2", "-fomit-frame-pointer", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables", "-g"]),
    ("static", "hidden.c", ["cc", "-O2", "-fomit-frame-pointer", "-static"]),
    ("assembly", "assembly.S", ["cc"]),
    ("signals", "signals.c", ["cc", "-O1"]),
    ("fortran", "furnace.f90", ["gfortran", "-O1"]),
]


class Unwinders(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="plumb-unwinders-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        lines = NUMBERS.splitlines(keepends=True)
        for name, text in {"numbers.txt": NUMBERS, "shuffled.txt": "".join(lines[::2] + lines[1::2]), "main.cpp": CPP, "sums.f90": FORTRAN, "Trees.java": JAVA, "page.1": TROFF, "page.md": MARKDOWN,
                           "build.ninja": NINJA, "in.txt": ""}.items():
            (cls.folder / name).write_text(text)
        cls.rows = []

    def witness(self, name, command):
        run = subprocess.run([WITNESS, *command], cwd=self.folder, capture_output=True, text=True)
        if run.returncode == SKIPPED:
            self.skipTest(run.stderr.strip())
        self.assertEqual(run.returncode, 0, f"{name}: {run.stderr}")
        found = json.loads(run.stdout)
        self.rows.append((name, found))
        self.assertEqual(found["unexplained"], [], f"{name}: frames that nothing explains")
        return found

    def test_debian_programs(self):
        if shutil.which("javac"):
            subprocess.run(["javac", "Trees.java"], cwd=self.folder, check=True)
        large = shutil.which("gdb") or sys.executable
        addresses, names = set(), set()
        for command in COMMANDS:
            if not shutil.which(command[0]):
                continue
            name = pathlib.Path(command[0]).name
            with self.subTest(name):
                found = self.witness(name, [word.replace("{}", large) if word == "{}" else word for word in command])
                addresses |= set(found["places"])
                names.add(name)
        self.assertGreaterEqual(len(names), LEAST_PROGRAMS, names)
        self.assertGreaterEqual(len(addresses), LEAST_ADDRESSES)

    def test_own_programs(self):
        for name, source, compiler in SPECIAL:
            if not shutil.which(compiler[0]):
                continue
            with self.subTest(name):
                # Quiet: linkers warn of the executable stack that Fortran's internal procedures need.
                subprocess.run([*compiler, SOURCES / source, "-o", self.folder / name], check=True, cwd=self.folder,
                               capture_output=True)
                found = self.witness(name, [self.folder / name])
                ours = found["unwinders"]["ours"]
                # They were written to be unwound: frames of the program, and not by guesses.
                self.assertGreater(ours["frames"], 3 * found["stacks"])
                self.assertEqual(found["agreements"]["libdwfl"]["no_description"], 0)

    @classmethod
    def tearDownClass(cls):
        if not cls.rows:
            return
        unwinders = ("ours", "libunwind", "libdwfl")
        print(f"{'':18} {'stacks':>6} {'addresses':>9}   {'frames a microsecond':^30}  {'complete stacks':^30}    disagreements")
        # libdwfl takes the end of a copied stack for the outermost frame, so its complete stacks are too many.
        print(f"{'':35}" + 2 * ("  " + "".join(f"{name:>10}" for name in unwinders)))
        for name, found in [*cls.rows, ("all", merged(cls.rows))]:
            speeds = "".join(f"{found['unwinders'][one]['timed_frames'] / found['unwinders'][one]['timed_us']:10.1f}" for one in unwinders)
            complete = "".join(f"{found['unwinders'][one]['complete']:10}" for one in unwinders)
            reasons = "; ".join(f"{other}: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count and kind != "same")
                                for other, kinds in found["agreements"].items() if sum(kinds.values()) > kinds["same"])
            print(f"{name:18} {found['stacks']:6} {len(found['places']):9}  {speeds}  {complete}   {reasons}")


def merged(rows):
    """The sum of what the witness found of several programs."""
    def add(one, other):
        if isinstance(one, dict):
            return {key: add(one[key], other[key]) for key in one}
        return one | set(other) if isinstance(one, set) else one + other
    total = None
    for _, found in rows:
        found = {**found, "places": set(found["places"])}
        total = found if total is None else add(total, found)
    return total


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
