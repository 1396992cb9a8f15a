"""Loops of known kinds (tests/programs/loops), compiled in several ways: which are reported as scalar, for which cause, whether what
is promised at most is at least what the cure brings, and what is promised where the loop was run again packed is about that. Likewise
what loops with short vectors would gain by long ones."""

import json
import pathlib
import re
import shutil
import subprocess
import unittest

from plumb_test import PLUMB, TREE, PlumbTest

SOURCES = TREE / "tests" / "programs" / "loops"
CPU = pathlib.Path("/proc/cpuinfo").read_text()
EXAMPLE = TREE / "examples" / "scalar-multiply"
MILLISECONDS = 150  # of each kernel
TOGETHER = 14       # kernels in one run: each has more than the 3 % of the time from which on loops are judged
TURNS = 6           # of the loop and the cured one, where what both take is compared
CLOSE = 0.2         # of the gain of the rebuilt loop: by how much that may differ from what was promised
# Each loop begins a line of the cache: one of a few cycles a round takes up to twice as many where it lies on two, and where a compiler
# happens to put it is no effect of the cure.
CURED = ["-O3", "-ffast-math", "-fopenmp-simd", "-falign-loops=64", "-DCURED"]
GCC = {"C": "gcc", "C++": "g++", "Fortran": "gfortran"}
CLANG = {"C": "clang-14", "C++": "clang++-14"}
VARIANTS = [("gcc", "-O2"), ("gcc", "-O3"), ("gcc", "-Ofast"), ("clang", "-O2"), ("clang", "-O3"), ("clang", "-Ofast")]

LEVEL, ORDER, ALIAS, CALL, ERRNO = "optimisation level", "order of a reduction", "possible aliasing", "call", "errno"
STRIDE, GATHER, CONVERSION, CONDITION, RECURRENCE = "stride", "gather", "conversion", "condition", "recurrence"
NONE = None  # packed already, or innocent: no finding above info
INFO = {GATHER, RECURRENCE}  # named, but nothing is certain to be gained


def always(cause):
    return [cause] * 6


def until_fast(cause):
    """The compiler may do it at -Ofast."""
    return [cause, cause, NONE] * 2


AT_O2_OF_GCC = [LEVEL] + [NONE] * 5
# Name of the kernel: the cause for each of VARIANTS. Read from the compilers' assembler output.
TRUTH = {
    "C": {
        **{name: AT_O2_OF_GCC for name in ("axpy", "scale_float", "divide", "stencil", "widen", "half_float", "powers", "of_members")},
        **{name: until_fast(ORDER) for name in ("dot", "sum", "norm_float", "distance", "sum_of_floats", "largest", "matrix_vector",
                                                "masses", "integral")},
        "many_arrays": always(ALIAS),
        "calls_sine": [CALL, CALL, NONE, CALL, CALL, CALL],
        "calls_exponential": [CALL, CALL, NONE, CALL, CALL, CALL],
        "calls_shifted": always(CALL),
        "roots": until_fast(ERRNO),
        "drift": [STRIDE, NONE, NONE, STRIDE, STRIDE, STRIDE],
        "column": [STRIDE, NONE, NONE, STRIDE, STRIDE, STRIDE],
        "gather": always(GATHER),
        "scatter": always(GATHER),
        "from_integers": [CONVERSION] * 3 + [NONE] * 3,
        "clip": always(CONDITION),
        **{name: always(RECURRENCE) for name in ("filter", "running_sum", "logistic")},
        **{name: always(NONE) for name in ("overlaps", "list_sum", "long_triad", "pairs", "sevens", "hash", "histogram", "search",
                                           "packed_by_hand")},
    },
    "C++": {
        "vector_axpy": AT_O2_OF_GCC,
        "vector_sum": until_fast(ORDER),
        "vector_product": until_fast(ORDER),
        "vector_roots": until_fast(ERRNO),
        "relax": AT_O2_OF_GCC,
        "kinetic_energy": until_fast(ORDER),
        "sum_of_list": always(NONE),
    },
    "Fortran": {
        "scaled_sum": AT_O2_OF_GCC,
        "inner": until_fast(ORDER),
        "row_sum": [STRIDE, STRIDE, NONE] * 2,
        "update": AT_O2_OF_GCC,
        "shaped": [STRIDE] + [NONE] * 5,
        "smooth": always(RECURRENCE),
    },
}
# Packed at -O3 of gcc with nothing but plain arithmetic on vectors of 16 bytes; and loops of which nothing is to be said.
NARROW = ("axpy", "scale_float", "divide", "stencil", "powers", "of_members", "vector_axpy", "relax", "scaled_sum")
NOT_NARROW = ("list_sum", "filter", "hash", "gather", "search")
LISTS = {"C": "c", "C++": "cpp", "Fortran": "fortran"}


def build(folder, compilers, flags):
    """run_kernels with all kernels whose language has a compiler here; the languages that it has."""
    folder.mkdir()
    made, objects = [], []

    def compiled(language, name, options):
        objects.append(str(folder / (name + ".o")))
        subprocess.run([compilers[language], "-g", *options, "-c", str(SOURCES / name), "-o", objects[-1]], check=True, cwd=folder,
                       capture_output=True)

    for language, names in {"C": ["kernels.c"], "C++": ["kernels_cpp.cpp"], "Fortran": ["kernels_fortran.F90", "fortran_list.c"]}.items():
        if not shutil.which(compilers.get(language, "")):
            continue
        made.append(language)
        compiled(language, names[0], [*flags, *(["-std=c++20"] if language == "C++" else []), *(["-fno-inline"] if language == "Fortran" else [])])
        for name in names[1:]:
            compiled("C", name, ["-O2"])
    for name in "opaque.c", "run_kernels.c":
        compiled("C", name, ["-O2"])
    libraries = ["-lgfortran"] if "Fortran" in made else []
    libraries += ["-lmvec"] if any("libmvec" in flag for flag in flags) else []
    linker = compilers["C++"] if "C++" in made else compilers["C"]
    subprocess.run([linker, *objects, "-o", str(folder / "run_kernels"), *libraries, "-lm"], check=True, capture_output=True)
    return made


def shortest_time(program, kernel):
    """Of one run of the kernel, in several tries: neighbours on a core halve its speed for milliseconds."""
    output = subprocess.run([str(program), "1", *[kernel] * 8], check=True, capture_output=True, text=True).stdout
    return min(float(line.split()[1]) for line in output.splitlines())


def is_of(name, finding):
    """Whether the finding is about this function, whatever clone of it or class it belongs to."""
    return re.search(rf"(^|\b|::){name}(\b|$)", finding["where"][0]["function"] if finding["where"] else finding["title"]) is not None


class Counts:
    """What was found, what there is to find, and for what cause."""

    def __init__(self):
        self.found = self.true = self.there = self.causes = self.right = self.bounds = 0
        self.wrong = []
        self.wider = []  # loops that would gain more by vectors of twice the size
        self.times = []  # of loops that were run again packed: place, part of their time saved as promised and as rebuilt

    def add(self, where, cause, finding):
        is_above_info = finding is not None and finding["severity"] != "info"
        is_there = cause is not NONE and cause not in INFO
        self.there += is_there
        self.found += is_above_info
        self.true += is_there and is_above_info
        named = finding["evidence"]["cause"] if finding else None
        if cause is not NONE:
            self.causes += 1
            self.right += named == cause
        if is_there != is_above_info or (cause is not NONE and named != cause):
            self.wrong.append(f"{where}: {named} ({finding['severity'] if finding else 'silent'}) instead of {cause}")

    def __str__(self):
        return (f"{self.true} of {self.there} found, {self.found - self.true} false, {self.right} of {self.causes} causes right, "
                f"{self.bounds} bounds compared, {self.close()} of {len(self.times)} promises within {CLOSE:.0%}")

    def close(self):
        return sum(abs(promised - rebuilt) <= CLOSE * rebuilt for _, promised, rebuilt in self.times)


class ScalarLoops(PlumbTest):
    def findings_of(self, program, names, diagnosis="scalar-loop"):
        self.record(program, MILLISECONDS, *names, options=("-q", "--no-report", "--force", "--rate", "1000"), check=0)
        done = subprocess.run([PLUMB, "report", str(self.run_directory), "--format", "json", "--only", diagnosis],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["findings"]

    def compare(self, compilers, name, cured_flags, counts):
        cured_folder = self.scratch / f"{name}-cured"
        build(cured_folder, compilers, [*CURED, *cured_flags])
        for number, (compiler, level) in enumerate(VARIANTS):
            if compiler != name:
                continue
            folder = self.scratch / f"{name}{level}"
            languages = build(folder, compilers, [level])
            kernels = [(kernel, causes[number]) for language in languages for kernel, causes in TRUTH[language].items()]
            for first in range(0, len(kernels), TOGETHER):
                part = kernels[first:first + TOGETHER]
                findings = self.findings_of(folder / "run_kernels", [kernel for kernel, _ in part])
                for kernel, cause in part:
                    mine = [finding for finding in findings if is_of(kernel, finding)]
                    mine.sort(key=lambda finding: -finding["cost"]["fraction"])
                    counts.add(f"{kernel} {name} {level}", cause, mine[0] if mine else None)
                    if mine and cause not in (NONE, *INFO) and mine[0]["severity"] != "info":
                        self.compare_gain(folder, cured_folder, kernel, mine[0], counts)

    def compare_gain(self, folder, cured_folder, kernel, finding, counts):
        """The gain is of the time in the loop; what both take is measured in turn, and the shortest times are compared."""
        if any("-march" in advice["what"] for advice in finding["advice"]):
            counts.wider.append(f"{kernel} {folder.name}")
        if finding["gain"]["kind"] == "estimate":
            times = [[shortest_time(where / "run_kernels", kernel) for where in (folder, cured_folder)] for _ in range(TURNS)]
            plain, cured = map(min, zip(*times))
            counts.times.append((f"{kernel} {folder.name}", finding["gain"]["fraction"] / finding["cost"]["fraction"], 1 - cured / plain))
            return
        bound = finding["gain"]["fraction"] / finding["cost"]["fraction"]
        for _ in range(3):
            plain, cured = (shortest_time(where / "run_kernels", kernel) for where in (folder, cured_folder))
            if 1 - cured / plain <= bound + 0.03:
                counts.bounds += 1
                return
        self.fail(f"{kernel} in {folder.name}: {1 - cured / plain:.0%} of the time saved, {bound:.0%} promised at most")

    def judge(self, counts):
        print(counts, *counts.wrong, sep="\n    ", flush=True)
        print(f"    {'':28}  time saved: promised  rebuilt")
        for place, promised, rebuilt in counts.times:
            print(f"    {place:28} {promised:20.0%} {rebuilt:8.0%}", flush=True)
        self.assertGreaterEqual(counts.close(), 0.6 * len(counts.times), counts.times)
        self.assertGreaterEqual(counts.right, 0.8 * counts.causes, counts.wrong)
        self.assertGreaterEqual(counts.true, 0.95 * counts.found, counts.wrong)
        self.assertGreaterEqual(counts.true, 0.9 * counts.there, counts.wrong)

    def test_the_example(self):
        if not shutil.which("gcc"):
            self.skipTest("gcc is not installed")
        found = {}
        for name in "columns", "rows":
            program = self.scratch / name
            subprocess.run(["gcc", "-O3", "-g", str(EXAMPLE / (name + ".c")), "-o", str(program)], check=True)
            self.record(program, "5000", options=("-q", "--no-report", "--force", "--rate", "1000"), check=0)
            found[name] = self.findings(self.report(), "scalar-loop")
        self.assertEqual(found["rows"], [])
        [finding] = found["columns"]
        self.assertEqual(finding["where"][0]["function"], "multiply")
        self.assertIn(finding["evidence"]["cause"], (STRIDE, ORDER))

    def test_of_gcc(self):
        if not all(map(shutil.which, (GCC["C"], GCC["C++"]))):
            self.skipTest("gcc and g++ are not installed")
        version = int(subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=True).stdout.split(".")[0])
        if version != 12:
            self.skipTest(f"what is packed at which level is known of gcc 12, this is gcc {version}")
        counts = Counts()
        self.compare(GCC, "gcc", [], counts)
        self.judge(counts)
        if " avx2 " in CPU:
            self.assertIn("powers gcc-O2", counts.wider)  # it computes much on little memory

    @unittest.skipUnless(" avx2 " in CPU, "this processor has no vectors of 32 bytes")
    @unittest.skipUnless(all(map(shutil.which, GCC.values())), "gcc, g++ and gfortran are not installed")
    def test_wider_vectors(self):
        """What vectors of 32 bytes are promised to save, and what they save; compiled for them, nothing is left to say."""
        narrow, wide = self.scratch / "narrow", self.scratch / "wide"
        build(narrow, GCC, ["-O3", "-falign-loops=64"])
        build(wide, GCC, ["-O3", "-falign-loops=64", "-march=x86-64-v3", "-ffp-contract=off"])  # fused operations are not promised
        found = {kernel: finding for finding in self.findings_of(narrow / "run_kernels", [*NARROW, *NOT_NARROW], "narrow-vectors")
                 for kernel in (*NARROW, *NOT_NARROW) if is_of(kernel, finding)}
        self.assertEqual([kernel for kernel in NOT_NARROW if kernel in found], [])
        rows = []
        for kernel in NARROW:
            times = [[shortest_time(folder / "run_kernels", kernel) for folder in (narrow, wide)] for _ in range(TURNS)]
            before, after = map(min, zip(*times))
            promised = found[kernel]["gain"]["fraction"] / found[kernel]["cost"]["fraction"] if kernel in found else 0
            rows.append((kernel, promised, 1 - after / before))
            print(f"    {kernel:28} {promised:20.0%} {rows[-1][2]:8.0%}", flush=True)
        self.assertGreaterEqual(sum(promised > 0 for _, promised, _ in rows), 0.8 * len(rows), rows)
        # These loops are over in less than a microsecond: how long a round takes in the program is not known, and of the replay's
        # forms the one counts that gains least.
        close = [row for row in rows if abs(row[1] - row[2]) <= 0.2]
        self.assertGreaterEqual(len(close), 0.6 * len(rows), rows)
        # One may be measured while a neighbour on the core was busy all the time.
        self.assertLessEqual(len([row for row in rows if row[1] > 0.2 and row[2] < 0.05]), 1, rows)
        self.assertEqual(self.findings_of(wide / "run_kernels", NARROW, "narrow-vectors"), [])

    def test_of_clang(self):
        if not all(map(shutil.which, CLANG.values())):
            self.skipTest("clang 14 is not installed")
        counts = Counts()
        self.compare(CLANG, "clang", ["-fveclib=libmvec"], counts)
        self.judge(counts)


if __name__ == "__main__":
    unittest.main(verbosity=2)
