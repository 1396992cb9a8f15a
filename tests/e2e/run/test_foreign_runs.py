#!/usr/bin/env python3
"""A run directory, a program and its debug info are somebody else's: a report shows nothing of the reader's own files for them,
waits for nobody, and lets no text of theirs at the terminal."""

import json
import os
import shutil
import subprocess
import unittest

from plumb_test import PLUMB, PlumbTest

PLANTED = "planted line {} of a file that does not belong to the build"
ESCAPE = "\033]0;owned\007"

# Burns on lines of its own file and on lines that it says are of another.
PROGRAM = """
static volatile unsigned long sum;
__attribute__((noinline)) static void honest(void) {
    for (unsigned long i = 0; i < 150000000; ++i)
        sum += i; /* a line of its own */
}
#line 1 "%s"
__attribute__((noinline)) static void pretends(void) {
    for (unsigned long i = 0; i < 150000000; ++i)
        sum += i;
}
int main(void) { honest(); pretends(); return 0; }
"""


def plumb(*words, **options):
    return subprocess.run([PLUMB, *map(str, words)], capture_output=True, timeout=120, **options)


@unittest.skipUnless(shutil.which("gcc"), "no gcc")
class NamedSources(PlumbTest):
    def reports_of_a_program_that_names(self, planted):
        planted.parent.mkdir(parents=True, exist_ok=True)
        planted.write_text("".join(PLANTED.format(line) + "\n" for line in range(1, 40)))
        source = self.scratch / "burns.c"
        source.write_text(PROGRAM % planted)
        subprocess.run(["gcc", "-O0", "-g", "-Wl,--build-id", "-o", self.scratch / "burns", source], check=True)
        self.record(self.scratch / "burns", check=0)
        return {form: plumb("report", self.run_directory, "--format", form).stdout.decode() for form in ("text", "json", "html")}

    def assert_quotes_nothing_of(self, planted):
        reports = self.reports_of_a_program_that_names(planted)
        self.assertIn("a line of its own", reports["html"])  # else nothing would be quoted at all
        self.assertIn(planted.name, reports["json"])  # it is named, as the debug info names it
        for form, text in reports.items():
            for line in range(1, 40):
                self.assertNotIn(PLANTED.format(line), text, form)

    def test_no_source_code(self):
        self.assert_quotes_nothing_of(self.scratch / "etc" / "passwd")

    def test_in_a_hidden_folder(self):
        self.assert_quotes_nothing_of(self.scratch / ".ssh" / "key.c")

    def test_behind_a_link(self):
        secret = self.scratch / "secret"
        secret.write_text("".join(PLANTED.format(line) + "\n" for line in range(1, 40)))
        link = self.scratch / "link.c"
        link.symlink_to(secret)
        self.assert_quotes_nothing_of(link)

    def test_named_by_a_cache_that_came_with_the_run(self):
        """Whoever sends a run can send a cache of frames in it, in which one's own program seems to have any source."""
        (self.scratch / "other.c").write_text("".join(PLANTED.format(line) + "\n" for line in range(1, 40)))
        reports = self.reports_of_a_program_that_names(self.scratch / "etc" / "passwd")
        self.assertIn("a line of its own", reports["html"])
        cache = self.run_directory / "symbols.cache"
        own, other = (os.fsencode(self.scratch / name) for name in ("burns.c", "other.c"))
        self.assertIn(own, cache.read_bytes())
        cache.write_bytes(cache.read_bytes().replace(own, other))
        again = plumb("report", self.run_directory, "--format", "html").stdout.decode()
        self.assertIn("other.c", again)  # what the cache says is used, as a name
        for line in range(1, 40):
            self.assertNotIn(PLANTED.format(line), again)

    def test_of_a_program_that_came_with_the_run(self):
        """Whoever sends a run can send a program in it, with any debug info."""
        planted = self.scratch / "own.c"
        self.run_directory.mkdir(mode=0o700)
        reports = self.reports_of_a_program_that_names(planted)
        self.assertIn(PLANTED.format(2), reports["html"])  # this user's program may quote this user's source code
        brought = self.run_directory / "burns"
        shutil.move(self.scratch / "burns", brought)
        (self.scratch / "burns").symlink_to(brought)
        html = plumb("report", self.run_directory, "--format", "html").stdout.decode()
        self.assertIn("own.c", html)
        self.assertNotIn(PLANTED.format(2), html)


class Files(PlumbTest):
    @unittest.skipUnless(shutil.which("python3"), "no python3")
    def test_maps_of_generated_code_are_plain_files(self):
        self.record("python3", "-c", "sum(i * i for i in range(2_000_000))", check=0)
        pids = {int(file.name.split("-")[1]) for file in self.run_directory.glob("process-*.plumb")}
        for make in (lambda path: os.mkfifo(path), lambda path: os.symlink("/dev/zero", path),
                     lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 40)):
            for pid in pids:
                path = self.run_directory / f"perf-{pid}.map"
                path.unlink(missing_ok=True)
                make(path)
            self.assertEqual(plumb("report", self.run_directory).returncode, 0)


class Terminal(PlumbTest):
    def assert_harmless(self, *words):
        done = plumb(*words)
        self.assertNotEqual(done.stdout + done.stderr, b"")
        for text in (done.stdout, done.stderr):
            self.assertNotIn(b"\033", text)
            self.assertNotIn(b"\007", text)
        return done

    def test_words_of_the_command_line(self):
        self.assertEqual(self.assert_harmless("report", "x", f"--no-such{ESCAPE}").returncode, 125)
        self.assertEqual(self.assert_harmless(f"no-such{ESCAPE}").returncode, 125)
        self.assertEqual(self.assert_harmless("report", "x", "--format", ESCAPE).returncode, 125)
        self.assert_harmless("pin", "--list", ESCAPE, "--", "true")
        self.assert_harmless("pin", "--", f"/nonexistent{ESCAPE}")
        self.assert_harmless("run", "--with", ESCAPE, "--", "true")
        self.assert_harmless("run", "-o", self.scratch / f"no{ESCAPE}" / "run", "--", "true")

    def test_names_of_programs(self):
        program = self.scratch / f"odd{ESCAPE}"
        shutil.copy("/bin/true", program)
        self.assert_harmless("pin", "--", program)
        self.assert_harmless("run", "-o", self.run_directory, "--", program)

    def test_texts_of_a_run(self):
        self.run_directory.mkdir()
        (self.run_directory / "run.json").write_text(json.dumps({"schema": "plumb-run/9" + ESCAPE}))
        self.assertEqual(self.assert_harmless("report", self.run_directory).returncode, 125)


if __name__ == "__main__":
    unittest.main()
