"""Programs that nobody here wrote behave under `plumb run` as they do without: output, exit status, files made.

Each case runs bare and wrapped (in sample and in full heap mode). What is not installed is skipped by name.
"""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

PLUMB = os.environ["PLUMB"]
PYTHON = "/usr/bin/python3"


def outcome(command, folder, stdin=b""):
    """What the user of a program sees of it: status, both streams, and the files it left."""
    done = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, timeout=300)
    files = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
             for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as plumb run says it
    return {"status": status, "stdout": done.stdout, "stderr": done.stderr, "files": files}


class RealPrograms(unittest.TestCase):
    maxDiff = 2000

    def same(self, command, stdin=b"", files=None):
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")
        with tempfile.TemporaryDirectory() as scratch:
            def folder(name):
                made = pathlib.Path(scratch, name, "work")  # the same path length: some programs print it
                made.mkdir(parents=True)
                for file, text in (files or {}).items():
                    (made / file).write_text(text)
                return made

            bare = outcome(command, folder("bare"), stdin)
            for mode in ("sample", "full"):
                with self.subTest(heap=mode):
                    run = pathlib.Path(scratch, f"run-{mode}")
                    wrapped = outcome([PLUMB, "run", "-q", f"--heap={mode}", "-o", str(run), "--"] + command,
                                      folder(mode), stdin)
                    self.assertEqual(bare, wrapped)
                    self.assertTrue((run / "run.json").exists(), "nothing was recorded")

    def test_compiler(self):
        source = "#include <map>\n#include <string>\nstd::map<std::string,int> m;\nint f(){return m[\"a\"];}\n"
        self.same(["g++", "-O2", "-c", "x.cpp", "-o", "x.o"], files={"x.cpp": source})

    def test_compiler_error(self):
        self.same(["g++", "-c", "x.cpp"], files={"x.cpp": "int f( {\n"})

    def test_python(self):
        script = ("import threading, subprocess, json, os, sys\n"
                  "r = []\n"
                  "ts = [threading.Thread(target=lambda i=i: r.append(i * i)) for i in range(20)]\n"
                  "[t.start() for t in ts]; [t.join() for t in ts]\n"
                  "print(sorted(r)); print(subprocess.run(['echo', 'child'], capture_output=True).stdout)\n"
                  "pid = os.fork()\n"
                  "if pid == 0: os._exit(7)\n"
                  "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
                  "sys.exit(3)\n")
        self.same([PYTHON, "-c", script])

    def test_python_multiprocessing(self):
        script = ("import multiprocessing as m\n"
                  "def f(x): return x * x\n"
                  "if __name__ == '__main__':\n"
                  "    for way in ('fork', 'spawn', 'forkserver'):\n"
                  "        with m.get_context(way).Pool(2) as p: print(way, p.map(f, range(10)))\n")
        self.same([PYTHON, "x.py"], files={"x.py": script})

    def test_xz(self):
        self.same(["xz", "-6", "-T2", "-k", "x"], files={"x": "plumb line\n" * 200_000})

    def test_sqlite(self):
        self.same(["sqlite3", ":memory:"], stdin=b"create table t(a); insert into t values(1),(2);"
                                                b"select sum(a) from t; select nothing;")

    def test_shell_pipeline(self):
        self.same(["sh", "-c", "seq 1000 | sort -r | head -n 3; exit 5"])

    def test_perl(self):
        self.same(["perl", "-e", "print join(',', map { $_ * 2 } 1..10), qq{\\n}; kill 'TERM', $$"][:3])

    def test_tar(self):
        self.same(["tar", "-cf", "x.tar", "--mtime=@0", "--owner=0", "--group=0", "x"], files={"x": "plumb\n" * 1000})

    def test_large_output(self):
        self.same(["seq", "200000"])

    def test_reads_standard_input(self):
        self.same(["sort", "-n"], stdin=b"3\n1\n2\n")

    def test_gdb_batch(self):
        self.same(["gdb", "-nx", "-batch", "-ex", "print 6*7"])


if __name__ == "__main__":
    unittest.main()
