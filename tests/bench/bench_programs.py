"""What `plumb run` costs on real programs: ratios of wall time and of CPU time to the bare program, start-up, exit and
report included.

Peers (heaptrack, google-perftools) run beside it where they are installed. Usage: bench_programs.py [ROUNDS]
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

from ordinary_programs import PYTHON, ordinary_programs, write_inputs
from pairs import compare, plumb


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        write_inputs(work)
        ordinary = ordinary_programs(work)
        programs = {name: ordinary[name] for name in ("xz", "g++ -O2", "sqlite3") if name in ordinary}
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
