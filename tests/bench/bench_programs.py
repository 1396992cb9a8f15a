"""What `plumb run` costs on real programs: ratios of wall time and of CPU time to the bare program, start-up, exit and
report included.

Peers (heaptrack, google-perftools) run beside it where they are installed. Usage: bench_programs.py [ROUNDS]
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from pairs import compare, plumb

PYTHON = "/usr/bin/python3"


def cpp_source():
    """A file that keeps the compiler busy for some seconds: many distinct instantiations, no headers of ours."""
    lines = ["#include <algorithm>", "#include <functional>", "#include <map>", "#include <regex>", "#include <string>",
             "#include <unordered_map>", "#include <vector>"]
    for number in range(24):
        lines.append(
            f"struct T{number} {{ int a[{number + 1}]; bool operator<(const T{number}& o) const {{ return a[0] < o.a[0]; }} }};\n"
            f"int use{number}(std::vector<T{number}> v, std::map<std::string, T{number}> m) {{\n"
            f"  std::sort(v.begin(), v.end()); std::stable_sort(v.begin(), v.end());\n"
            f"  std::unordered_map<std::string, std::function<int(T{number})>> f;\n"
            f"  for (auto& e : m) f[e.first] = [](T{number} t) {{ return t.a[0]; }};\n"
            f"  int s = 0; for (auto& e : v) for (auto& g : f) s += g.second(e);\n"
            f"  return s + (int)std::regex_match(\"x\", std::basic_regex<char>(\"[a-z]{number}\"));\n}}")
    return "\n".join(lines)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "input.cpp").write_text(cpp_source())
        with open(work / "data", "wb") as data:
            for number in range(600_000):
                data.write(f"{number * 2654435761 % 4294967296:x} plumb line {number}\n".encode())
        (work / "bulk.sql").write_text(
            "CREATE TABLE t(a INTEGER, b TEXT, c REAL); BEGIN;"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<2500000)"
            " INSERT INTO t SELECT i, 'row ' || i, i * 0.5 FROM n; COMMIT;"
            "CREATE INDEX x ON t(b); SELECT count(*), sum(a), max(b) FROM t;")

        programs = {"xz -6": ["xz", "-6", "-c", str(work / "data")],
                    "g++ -O2 -c": ["g++", "-O2", "-c", str(work / "input.cpp"), "-o", str(work / "input.o")],
                    "sqlite3 bulk insert": ["sqlite3", ":memory:", f".read {work / 'bulk.sql'}"]}
        tests = subprocess.run([PYTHON, "-c", "import test.test_json, test.test_threading"], capture_output=True)
        if tests.returncode == 0:
            programs["python3 -m test"] = [PYTHON, "-m", "test", "test_json", "test_threading"]
        else:
            print("python3's own tests are not installed (libpython3-testsuite): left out")

        counter = [0]

        def fresh():
            counter[0] += 1
            return str(work / f"run{counter[0]}")

        for title, command in programs.items():
            if not shutil.which(command[0]):
                print(f"{title}: not installed")
                continue
            variants = {"plumb run": lambda: [plumb(), "run", "-o", fresh(), "--"] + command,
                        "plumb run --heap=full": lambda: [plumb(), "run", "--heap=full", "-o", fresh(), "--"] + command}
            if shutil.which("heaptrack"):
                variants["heaptrack --raw"] = lambda: ["heaptrack", "--raw", "-o", fresh(), "--"] + command
            compare(title, command, variants, rounds, cwd=folder)

        compare("start-up: true", ["/bin/true"],
                {"plumb run": lambda: [plumb(), "run", "-o", fresh(), "--", "/bin/true"],
                 "plumb run --no-report": lambda: [plumb(), "run", "--no-report", "-o", fresh(), "--", "/bin/true"]},
                rounds=max(rounds, 11), cwd=folder)


if __name__ == "__main__":
    main()
