#!/usr/bin/env python3
"""plumb report: its forms, its options, and what it says when there is nothing to report."""

import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import time
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest

LOOP = "sum(i * i for i in range(2_000_000))"


def report(*arguments, **environment):
    return subprocess.run([PLUMB, "report", *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "LC_ALL": "C.UTF-8", **environment})


class Complaints(PlumbTest):
    def refused(self, *arguments, says):
        done = report(*arguments)
        self.assertEqual(done.returncode, 125, done.stdout)
        self.assertEqual(done.stdout, "")
        self.assertIn(says, done.stderr)
        self.assertLessEqual(len(done.stderr.strip().splitlines()), 2, done.stderr)

    def test_no_such_directory(self):
        self.refused(self.scratch / "nothing", says="No such file or directory")

    def test_no_run_directory(self):
        self.refused(self.scratch, says="not a run")

    def test_a_file(self):
        file = self.scratch / "file"
        file.write_text("text")
        self.refused(file, says=str(file))

    def test_unknown_diagnosis(self):
        self.record("true", check=0)
        self.refused(self.run_directory, "--only", "cpu-oversubscribd", says="cpu-oversubscribed")

    def test_unwritable_output(self):
        self.record("true", check=0)
        self.refused(self.run_directory, "-o", "/nonexistent/report.txt", says="/nonexistent/report.txt")

    def test_full_disk(self):
        self.record("true", check=0)
        self.refused(self.run_directory, "-o", "/dev/full", says="No space left")

    def test_bad_source_map(self):
        self.record("true", check=0)
        self.refused(self.run_directory, "--source-map", "nothing", says="=")

    def test_newer_format(self):
        self.record("true", check=0)
        for trace in self.run_directory.glob("*.plumb"):
            data = bytearray(trace.read_bytes())
            data[8:10] = struct.pack("<H", 99)  # FileHeader::major
            trace.write_bytes(data)
        self.refused(self.run_directory, says="newer")


class Forms(PlumbTest):
    def test_the_three_forms_agree(self):
        self.record("/usr/bin/env", "python3", "-c", LOOP, check=0)
        document = self.report()
        self.assertEqual(document["schema"], "plumb-report/1")
        self.assertEqual(document["run"]["command"], ["/usr/bin/env", "python3", "-c", LOOP])
        self.assertEqual(document["run"]["exit_status"], 0)
        self.assertTrue(document["run"]["complete"])
        screen = report(self.run_directory)
        self.assertEqual(screen.returncode, 0, screen.stderr)
        self.assertLess(len(screen.stdout.splitlines()), 45, screen.stdout)
        self.assertIn(f"plumb report {self.run_directory} --full", screen.stdout)
        text = report(self.run_directory, "--full")
        self.assertEqual(text.returncode, 0, text.stderr)
        self.assertNotIn("\033", screen.stdout + text.stdout)
        page = report(self.run_directory, "--format", "html")
        for finding in document["findings"]:
            if "more in the JSON and HTML reports" not in text.stdout:
                self.assertIn(finding["id"], text.stdout)
            self.assertIn(finding["id"], page.stdout)
        self.assertIn("Cost of recording", text.stdout)
        self.assertIn(str(self.run_directory), text.stdout)

    def test_one_finding_by_its_number(self):
        self.record("/usr/bin/env", "python3", "-c", LOOP, check=0)
        findings = [finding for finding in self.report()["findings"] if finding["severity"] != "info"]
        for number, finding in enumerate(findings, 1):
            self.assertIn(f"[{finding['id']}]", report(self.run_directory, "--finding", number).stdout)
        done = report(self.run_directory, "--finding", len(findings) + 1)
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertIn(f"there is no finding {len(findings) + 1}: this run has {len(findings)}", done.stderr)

    def test_a_real_report_follows_the_schema(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("python3-jsonschema is not installed")
        self.record("/usr/bin/env", "python3", "-c", LOOP, check=0)
        schema = json.loads(pathlib.Path(os.environ["PLUMB_REPORT_SCHEMA"]).read_text())
        jsonschema.Draft7Validator(schema).validate(self.report())

    def test_output_file_replaces_whole(self):
        self.record("true", check=0)
        output = self.scratch / "report.json"
        output.write_text("old")
        done = report(self.run_directory, "--format", "json", "-o", output)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        json.loads(output.read_text())
        self.assertEqual(sorted(path.name for path in self.scratch.iterdir()), ["report.json", "run"])

    def test_plain_ascii_in_the_c_locale(self):
        self.record("true", check=0)
        done = report(self.run_directory, LC_ALL="C")
        self.assertTrue(done.stdout.isascii())

    def test_width_follows_columns(self):
        self.record("/usr/bin/env", "python3", "-c", LOOP, check=0)
        commands = {line.strip() for finding in self.report()["findings"] for advice in finding["advice"]
                    for line in advice.get("command", "").splitlines()}
        for columns, options in ((80, []), (120, []), (80, ["--full"]), (120, ["--full"])):
            text = report(self.run_directory, *options, COLUMNS=str(columns)).stdout
            # Commands are there to be pasted and paths to be opened: they stay in one piece.
            prose = [line for line in text.splitlines() if " /" not in f" {line}" and line.strip() not in commands
                     and "  plumb report" not in f"  {line}"]
            self.assertEqual([line for line in prose if len(line) > columns], [])

    def test_the_hot_line_is_the_users_and_a_copied_run_still_says_so(self):
        self.record(PROGRAMS / "burn", "1.5", check=0)
        copy = self.scratch / "copy"
        shutil.move(self.run_directory, copy)
        document = self.report(copy)
        hot = document["hot_lines"][0]
        self.assertTrue(hot["file"].endswith("tests/programs/burn.c"), hot)
        self.assertEqual(hot["function"], "burn_cpu")
        lines = [line for line in document["hot_lines"] if line["function"] == "burn_cpu"]
        self.assertGreater(sum(line["fraction"] for line in lines), 0.9, document["hot_lines"])
        page = report(copy, "--format", "html").stdout
        self.assertTrue("sink = sink * 0.999 + i;" in page, "the page has no source")

    def test_source_maps_move_files(self):
        self.record(PROGRAMS / "burn", "0.3", check=0)
        folder = self.report()["hot_lines"][0]["file"].rsplit("/", 1)[0]
        done = report(self.run_directory, "--format", "json", "--source-map", f"{folder}=/elsewhere/src")
        self.assertEqual(json.loads(done.stdout)["hot_lines"][0]["file"], "/elsewhere/src/burn.c", done.stderr)

    def test_a_killed_program_is_said_at_the_top(self):
        self.record("/usr/bin/env", "python3", "-c", "import os; os.kill(os.getpid(), 9)", check=128 + signal.SIGKILL)
        head = report(self.run_directory).stdout.split("\n\n")[0]
        self.assertIn("SIGKILL", head)
        self.assertFalse(self.report()["run"]["exit_status"] == 0)

    def test_a_killed_recorder_is_said_at_the_top(self):
        recorder = subprocess.Popen([PLUMB, "run", "-o", self.run_directory, "--", "sleep", "30"],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and not list(self.run_directory.glob("process-*")):
            time.sleep(0.1)
        time.sleep(0.5)
        recorder.kill()
        recorder.wait()
        try:
            done = report(self.run_directory)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("recording has not ended after", done.stdout.split("\n\n")[0])
            self.assertFalse(self.report()["run"]["complete"])
        finally:
            try:
                os.killpg(recorder.pid, signal.SIGKILL)  # the sleep it left behind; its session is ours
            except ProcessLookupError:
                pass


if __name__ == "__main__":
    unittest.main()
