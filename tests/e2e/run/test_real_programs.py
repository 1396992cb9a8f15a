"""Programs that nobody here wrote behave under `plumb run` as they do without: output, exit status, files made.

Each case runs bare and wrapped (in sample and in full heap mode; under the alignment trap in test_real_programs_align).
What is not installed is skipped by name.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

PLUMB = os.environ["PLUMB"]
PYTHON = "/usr/bin/python3"


def outcome(command, folder, stdin=b"", **variables):
    """What the user of a program sees of it: status, both streams, and the files it left."""
    done = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, timeout=300,
                          env={**os.environ, **variables})
    files = {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
             for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as plumb run says it
    return {"status": status, "stdout": done.stdout, "stderr": done.stderr, "files": files}


class RealPrograms(unittest.TestCase):
    maxDiff = 2000
    MODES = {"sample": ["--heap=sample", "--align=off"], "full": ["--heap=full", "--align=off"]}

    def same(self, command, stdin=b"", files=None, changing=(), **variables):
        """Bare and wrapped do the same. `changing`: patterns of what differs between any two runs."""
        if not shutil.which(command[0]):
            self.skipTest(f"{command[0]} is not installed")

        def settled(seen):
            for stream in ("stdout", "stderr"):
                for pattern in changing:
                    seen[stream] = re.sub(pattern, b"", seen[stream], flags=re.MULTILINE)
            return seen

        with tempfile.TemporaryDirectory() as scratch:
            def folder(name):
                made = pathlib.Path(scratch, f"{name:_<8}", "work")  # the same path length: some programs print it
                made.mkdir(parents=True)
                for file, text in (files or {}).items():
                    (made / file).write_text(text)
                return made

            bare = settled(outcome(command, folder("bare"), stdin, **variables))
            for mode, options in self.MODES.items():
                with self.subTest(mode=mode):
                    run = pathlib.Path(scratch, f"run-{mode}")
                    wrapped = settled(outcome([PLUMB, "run", "-q", *options, "-o", str(run), "--"] + command,
                                              folder(mode), stdin, **variables))
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

    def test_python_tests(self):
        if subprocess.run([PYTHON, "-c", "import test.test_json"], capture_output=True).returncode:
            self.skipTest("Python's own tests are not installed (libpython3-testsuite)")
        self.same([PYTHON, "-m", "test", "test_fork1", "test_mmap", "test_ctypes"],
                  changing=[rb"^0:.*\n", rb"^Total duration.*\n", rb"^== .*\n", rb"^Using random seed.*\n"])

    def test_node(self):
        script = ("const { Worker } = require('worker_threads');\n"
                  "const w = new Worker(`require('worker_threads').parentPort.postMessage(6 * 7)`, { eval: true });\n"
                  "w.on('message', m => { console.log(m);\n"
                  "  console.log(require('child_process').execSync('echo child').toString()); process.exitCode = 3; });\n")
        self.same(["node", "x.js"], files={"x.js": script})

    def test_java(self):
        if not shutil.which("javac"):
            self.skipTest("javac is not installed")
        source = ("class X { static volatile Object nothing; public static void main(String[] a) throws Exception {\n"
                  "  Thread[] t = new Thread[8]; long[] s = new long[8];\n"
                  "  for (int i = 0; i < 8; i++) { int k = i; t[i] = new Thread(() -> {\n"
                  "    for (int j = 0; j < 100000; j++) s[k] += Integer.toString(j).length(); }); t[i].start(); }\n"
                  "  long sum = 0; for (int i = 0; i < 8; i++) { t[i].join(); sum += s[i]; }\n"
                  "  try { nothing.hashCode(); } catch (NullPointerException e) { System.out.println(sum); }\n"
                  "  System.exit(4); } }\n")
        with tempfile.TemporaryDirectory() as classes:
            pathlib.Path(classes, "X.java").write_text(source)
            subprocess.run(["javac", "X.java"], cwd=classes, check=True)
            self.same(["java", "-Xshare:auto", "-cp", classes, "X"])

    def test_bash_job_control(self):
        script = ("exec 2>/dev/null; set -m; sleep 0.2 & kill -STOP %1; kill -CONT %1; fg %1 >/dev/null; echo $?\n"
                  "trap 'echo trapped' USR1; kill -USR1 $$; diff <(echo a) <(echo b); echo $?\n"
                  "coproc cat; echo through >&${COPROC[1]}; read line <&${COPROC[0]}; echo $line\n"
                  "kill $COPROC_PID; (sleep 0.1; echo late) & wait $!; exit 3\n")
        self.same(["bash", "-c", script])

    def test_large_arguments_that_are_no_text(self):
        argument = os.fsdecode(b"\xff\xfe" + b"a" * 120_000)
        self.same([PYTHON, "-c", "import os, sys; print(sum(len(os.fsencode(a)) for a in sys.argv))"] + [argument] * 12)

    def test_few_descriptors(self):
        opens = ("import os\n"
                 "try:\n"
                 "    while True: last = os.open('/', os.O_RDONLY)\n"
                 "except OSError as error: print(last, error)\n")
        self.same(["sh", "-c", f'ulimit -n 12; exec {PYTHON} -c "$0"', opens])

    def test_little_address_space(self):
        self.same(["sh", "-c", f"ulimit -v 300000; exec {PYTHON} -c 'bytearray(10**9)'"])

    def test_other_allocators(self):
        script = "import threading as t; x=[t.Thread(target=lambda: [str(i) for i in range(20000)]) for _ in range(4)]\n" \
                 "[i.start() for i in x]; [i.join() for i in x]; print(len(str(x)) > 0)\n"
        for allocator in ("jemalloc.so.2", "tcmalloc.so.4", "mimalloc.so.2"):
            found = [folder for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64")
                     if os.path.exists(f"{folder}/lib{allocator}")]
            if not found:
                continue
            with self.subTest(allocator=allocator):
                self.same([PYTHON, "-c", script], LD_PRELOAD=f"{found[0]}/lib{allocator}", PYTHONMALLOC="malloc")

    def test_strace(self):
        self.same(["strace", "-f", "-o", "/dev/null", PYTHON, "-c", "import os; print(os.system('exit 3'))"])

    def test_valgrind(self):
        self.same(["valgrind", "-q", "--leak-check=full", "--error-exitcode=9", "/bin/echo", "checked"])

    def test_nested(self):
        with tempfile.TemporaryDirectory() as inner:
            self.same([PLUMB, "run", "-q", "--force", "-o", f"{inner}/run", "--", "sh", "-c", "echo inner; exit 6"])

    def test_molecules_and_ranks(self):
        """LAMMPS alone, under mpirun, and under plumb inside mpirun, which share one run directory."""
        molecules = ("units lj\natom_style atomic\nlattice fcc 0.8442\nregion box block 0 6 0 6 0 6\n"
                     "create_box 1 box\ncreate_atoms 1 box\nmass 1 1.0\nvelocity all create 3.0 87287 loop geom\n"
                     "pair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0 2.5\nfix 1 all nve\nthermo 20\nrun 60\n")
        changing = [rb"^(Loop time|Performance|Total wall time|Pair|Neigh|Comm|Output|Modify|Other).*\n", rb".*CPU use.*\n", rb".*CPU = .* seconds\n"]
        as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
        lammps = ["lmp", "-log", "none", "-in", "in.lj"]
        self.same(lammps, files={"in.lj": molecules}, changing=changing, **as_root)
        if not shutil.which("mpirun"):
            self.skipTest("mpirun is not installed")
        ranks = ["mpirun", "--oversubscribe", "-n", "2"]
        self.same(ranks + lammps, files={"in.lj": molecules}, changing=changing, **as_root)
        with tempfile.TemporaryDirectory() as scratch:
            pathlib.Path(scratch, "in.lj").write_text(molecules)
            bare = outcome(ranks + lammps, scratch, **as_root)
            inside = outcome(ranks + [PLUMB, "run", "-o", "run", "--"] + lammps, scratch, **as_root)
            self.assertEqual(inside["status"], 0, inside["stderr"])
            thermo = re.compile(rb"^Step.*?^Loop", re.MULTILINE | re.DOTALL)
            self.assertEqual(thermo.findall(bare["stdout"]), thermo.findall(inside["stdout"]))
            self.assertEqual(inside["stderr"].count(b"Recorded in"), 1, "two ranks, one report")
            report = json.loads(subprocess.run([PLUMB, "report", f"{scratch}/run", "--format", "json"],
                                               capture_output=True, check=True).stdout)
            self.assertEqual(report["run"]["ranks"], 2)

    def test_preload_that_is_lost_is_said(self):
        with tempfile.TemporaryDirectory() as scratch:
            done = outcome([PLUMB, "run", "-o", "run", "--", "env", "-i", PYTHON, "-c", "sum(range(10_000_000))"], scratch)
            self.assertEqual(done["status"], 0)
            report = json.loads(subprocess.run([PLUMB, "report", f"{scratch}/run", "--format", "json"],
                                               capture_output=True, check=True).stdout)
            if any(e["source"] == "perf-sampling" and e["state"] == "missing" for e in report["evidence"]):
                self.skipTest("perf events are forbidden here: nothing is known of a program without the shim")
            self.assertIn(b"started without the preload", done["stderr"])

    def test_browser_with_and_without_its_sandbox(self):
        page = "data:text/html,<p id=a>x</p><script>a.textContent=6*7</script>"
        for sandbox in ([], ["--no-sandbox"]):
            if not sandbox and os.geteuid() == 0:
                continue  # it refuses to sandbox root
            with self.subTest(sandbox=sandbox):
                with tempfile.TemporaryDirectory() as profile:
                    command = ["chromium", "--headless", "--disable-gpu", f"--user-data-dir={profile}", *sandbox,
                               "--dump-dom", page]
                    if not shutil.which("chromium"):
                        self.skipTest("chromium is not installed")
                    with tempfile.TemporaryDirectory() as scratch:
                        bare = outcome(command, scratch)
                        wrapped = outcome([PLUMB, "run", "-q", "-o", "run", "--"] + command, scratch)
                        self.assertEqual((bare["status"], bare["stdout"]), (wrapped["status"], wrapped["stdout"]),
                                         wrapped["stderr"])

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
