"""plumb run starts programs as they would start without it, or says in one sentence why it cannot."""

import json
import os
import pathlib
import stat
import subprocess
import time
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest, has_mount_namespaces
from recorder_trace import recorder_trace


class Failures(PlumbTest):
    def fails(self, status, words, *command, options=(), **variables):
        done = self.record(*command, options=options, env={**os.environ, **variables})
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("plumb: "), done.stderr)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertFalse(self.run_directory.exists(), "a run that did not begin left its directory")

    def script(self, name, content, mode=0o755):
        path = self.scratch / name
        path.write_text(content)
        path.chmod(mode)
        return path

    def test_missing_program(self):
        self.fails(127, "no such file", self.scratch / "missing")

    def test_missing_in_path(self):
        self.fails(127, "not found in PATH", "plumb-has-no-such-program")

    def test_missing_in_path_with_a_folder_that_may_not_be_searched(self):
        closed = self.scratch / "closed"
        closed.mkdir(mode=0)
        self.fails(127, "not found in PATH", "plumb-has-no-such-program", PATH=f"{closed}:/usr/bin")

    def test_not_executable_in_path(self):
        self.script("plumb-test-plain", "text", 0o644)
        self.fails(126, "permission denied", "plumb-test-plain", PATH=str(self.scratch))

    def test_directory(self):
        self.fails(126, "directory", self.scratch)

    def test_not_executable(self):
        self.fails(126, "permission denied", self.script("plain", "text", 0o644))

    def test_missing_interpreter(self):
        self.fails(127, "/missing/interpreter", self.script("script", "#!/missing/interpreter\n"))

    def test_no_program(self):
        done = subprocess.run([PLUMB, "run"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 125)
        self.assertIn("no program to run", done.stderr)

    def test_unknown_collectors(self):
        marker = self.scratch / "ran"
        for option in ("--with=aling", "--without=heap,mip", "--without=smaple"):
            done = self.record("touch", marker, options=[option, "--no-report"])
            self.assertEqual(done.returncode, 125, done.stderr)
            self.assertRegex(done.stderr, "aling|mip|smaple")
            self.assertIn("sample, place, threads, heap, memory, modules, mpi, openmp, bandwidth, wait, align, counters", done.stderr)
            self.assertFalse(marker.exists())

    def test_run_that_exists(self):
        self.record("true", options=["--no-report"], check=0)
        marker = self.scratch / "ran"
        done = self.record("touch", marker)
        self.assertEqual(done.returncode, 125)
        self.assertIn("already holds a run", done.stderr)
        self.assertFalse(marker.exists(), "the program ran although it could not be recorded")
        self.record("touch", marker, options=["--force", "--no-report"], check=0)
        self.assertTrue(marker.exists())

    def test_run_that_goes_on(self):
        """Ranks of a launcher that is not known come to one directory: each program runs, and is recorded."""
        with subprocess.Popen([PLUMB, "run", "-o", self.run_directory, "--no-report", "--", "cat"], stdin=subprocess.PIPE) as first:
            deadline = time.monotonic() + 30
            while not (self.run_directory / "run.json").exists() and time.monotonic() < deadline:
                time.sleep(0.01)
            done = self.record("sh", "-c", "exit 7", options=["--no-report"])
            self.assertEqual(done.returncode, 7)
            self.assertRegex(done.stderr, "^plumb: .* holds a run that has not ended: this one is recorded into .*-2\n$")
            first.communicate(timeout=60)
        second = self.run_directory.with_name(self.run_directory.name + "-2")
        for directory, status in (self.run_directory, 0), (second, 7):
            self.assertEqual(json.loads((directory / "run.json").read_text())["exit_status"], status)

    def test_directory_of_someone_else(self):
        self.run_directory.mkdir()
        (self.run_directory / "thesis.tex").write_text("years of work")
        for options in ([], ["--force"]):
            done = self.record("true", options=options)
            self.assertEqual(done.returncode, 125)
            self.assertIn("holds no run", done.stderr)
        self.assertTrue((self.run_directory / "thesis.tex").exists())
        self.assertNotEqual(stat.S_IMODE(self.run_directory.stat().st_mode), 0o700, "it was not plumb's to change")

    @unittest.skipUnless(has_mount_namespaces(), "needs to mount a small disk in a namespace of its own")
    def test_disk_that_fills_up(self):
        # Room for the start, none for more: the program must not notice, and what was recorded stays readable.
        disk = self.scratch / "disk"
        disk.mkdir()
        line = (f"mount -t tmpfs -o size=600k none {disk} && '{PLUMB}' run -o {disk}/run --without=heap --no-report -- "
                f"sh -c 'head -c 900k /dev/zero > {disk}/filler 2>/dev/null; \"{PROGRAMS}/burn\" 1; echo done' && "
                f"cp -r {disk}/run {self.run_directory}")
        done = subprocess.run(["unshare", "-m", "sh", "-c", line], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        self.assertTrue(recorder_trace(self.run_directory).of("ProcessSeen"))


class Starts(PlumbTest):
    def test_exit_statuses(self):
        for status in (0, 1, 5, 77, 125, 127, 255):
            with self.subTest(status=status):
                self.record("sh", "-c", f"exit {status}", options=["--force", "--no-report"], check=status)

    def test_deaths_by_signal(self):
        for signal in (1, 2, 6, 9, 11, 13, 15):
            with self.subTest(signal=signal):
                self.record("sh", "-c", f"kill -{signal} $$", options=["--force", "--no-report"], check=128 + signal)

    def test_script_without_interpreter_line(self):
        script = self.scratch / "script"
        script.write_text("echo $1\nexit 4\n")
        script.chmod(0o755)
        self.assertEqual(self.record(script, "word", options=["--no-report"], check=4).stdout, "word\n")

    def test_program_found_in_path(self):
        (self.scratch / "only-here").write_text("#!/bin/sh\necho found\n")
        (self.scratch / "only-here").chmod(0o755)
        environment = {**os.environ, "PATH": f"{self.scratch}:{os.environ['PATH']}"}
        done = self.record("only-here", options=["--no-report"], check=0, env=environment)
        self.assertEqual(done.stdout, "found\n")

    def test_options_end_at_the_program(self):
        done = subprocess.run([PLUMB, "run", "-o", self.run_directory, "--no-report", "echo", "-o", "--force"],
                              capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "-o --force\n"))

    def test_nothing_but_the_programs_output(self):
        done = self.record("sh", "-c", "echo out; echo err >&2", options=["--no-report"], check=0)
        self.assertEqual((done.stdout, done.stderr), ("out\n", "err\n"))

    def test_input_reaches_the_program(self):
        self.assertEqual(self.record("cat", options=["--no-report"], check=0, input="a\0b\n" * 100000).stdout,
                         "a\0b\n" * 100000)

    def test_closed_streams(self):
        line = f'"{PLUMB}" run -o "{self.run_directory}" --no-report -- true <&- >&- 2>&-'
        self.assertEqual(subprocess.run(["bash", "-c", line]).returncode, 0)

    def test_inherits_what_it_would_inherit(self):
        program = PROGRAMS / "inherited"
        prefixes = (
            [],
            ["env", "--ignore-signal=HUP,CHLD,PIPE", "--block-signal=USR2,TERM,CHLD", "nice", "-n", "3"],
            ["bash", "-c", 'ulimit -n 100; ulimit -l 64; umask 027; exec "$@" 7</dev/null', "-"],
            ["setsid", "--wait"],
        )
        for number, prefix in enumerate(prefixes):
            with self.subTest(prefix=prefix):
                run = [PLUMB, "run", "-o", str(self.scratch / f"run{number}"), "--no-report", "--"]
                bare, wrapped = (subprocess.run([*prefix, *command, str(program)], capture_output=True, text=True)
                                 for command in ([], run))
                hide = lambda text: [line for line in text.splitlines() if "session" not in line or not prefix[:1] == ["setsid"]]
                self.assertEqual(hide(wrapped.stdout), hide(bare.stdout), wrapped.stderr)

    def test_many_arguments(self):
        words = ["x" * 1000] * 1000
        done = self.record("sh", "-c", "echo $#", "sh", *words, options=["--no-report"], check=0)
        self.assertEqual(done.stdout, "1000\n")

    def test_run_directory(self):
        self.record("sh", "-c", "exit 3", options=["--no-report"], check=3)
        self.assertEqual(stat.S_IMODE(self.run_directory.stat().st_mode), 0o700)
        run = json.loads((self.run_directory / "run.json").read_text())
        self.assertEqual((run["schema"], run["state"], run["exit_status"]), ("plumb-run/1", "finished", 3))
        self.assertEqual(run["command"], ["sh", "-c", "exit 3"])
        self.assertGreater(run["end_ns"], run["begin_ns"])
        for path in self.run_directory.iterdir():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o077, 0, path)

    def test_default_name(self):
        for _ in range(2):  # within one second
            subprocess.run([PLUMB, "run", "--no-report", "--", "/bin/true"], cwd=self.scratch, check=True)
        self.assertEqual(len(list(pathlib.Path(self.scratch).glob("plumb-true-*"))), 2)


if __name__ == "__main__":
    unittest.main()
