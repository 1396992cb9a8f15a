#!/usr/bin/env python3
"""plumb report --kernel-log: lines of logs to lines of the source, by programs and by a recorded run; long, odd and missing logs."""

import json
import os
import resource
import shutil
import subprocess
import time
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest, breaches

PROGRAM = PROGRAMS / "cpu_work"


def report(*arguments, **options):
    return subprocess.run([PLUMB, "report", "--kernel-log", *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "160"}, **options)


class KernelLog(PlumbTest):
    def log(self, *lines):
        path = self.scratch / "dmesg.txt"
        path.write_text("\n".join(lines) + "\n")
        return path

    def groups(self, *arguments):
        done = report(*arguments, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        document = json.loads(done.stdout)
        self.assertEqual(breaches(document, "kernel-log", apart=["suppressed"]), [])
        return document["groups"]

    def symbol(self, name):
        for line in subprocess.run(["nm", PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines():
            if line.split()[-1] == name:
                return int(line.split()[0], 16)
        self.fail(f"{PROGRAM} has no {name}")

    def code_segment(self):
        """Address and offset in the file of the executable one."""
        for line in subprocess.run(["readelf", "-lW", PROGRAM], capture_output=True, text=True, check=True).stdout.splitlines():
            words = line.split()
            if words[:1] == ["LOAD"] and "E" in words[6:-1]:
                return int(words[2], 16), int(words[1], 16)
        self.fail("no executable segment")

    def line_of(self, address):
        if not shutil.which("addr2line"):
            self.skipTest("addr2line is not installed")
        said = subprocess.run(["addr2line", "-e", PROGRAM, hex(address)], capture_output=True, text=True, check=True).stdout
        file, line = said.split()[0].rsplit(":", 1)
        return os.path.basename(file), int(line)

    def check_main(self, group):
        frame = group["frames"][0]
        self.assertEqual(frame["function"].split("(")[0], "main")
        self.assertEqual((os.path.basename(frame["file"]), frame["line"]), self.line_of(self.symbol("main")))

    def journal(self, *lines, status=0):
        """A journalctl that says these lines, and the environment in which it is found; its words go to a file."""
        folder = self.scratch / "bin"
        folder.mkdir()
        self.log(*lines)
        program = folder / "journalctl"
        program.write_text(f"#!/bin/sh\necho \"$@\" > {self.scratch}/words\ncat {self.scratch}/dmesg.txt\nexit {status}\n")
        program.chmod(0o755)
        return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}

    def test_the_journal_of_the_runs_time(self):
        before = int(time.time())
        self.record(PROGRAM, "0.2", check=0)
        after = time.time()
        environment = self.journal("2026-01-17T14:30:00+00:00 node7 kernel: Out of memory: Killed process 1234 (solver) total-vm:1kB, "
                                   "anon-rss:2048kB, file-rss:0kB")
        done = subprocess.run([PLUMB, "report", "--kernel-log", "journal", self.run_directory, "--format", "json"], capture_output=True, text=True,
                              env=environment, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        [group] = json.loads(done.stdout)["groups"]
        self.assertEqual(group["program"], "solver")
        words = (self.scratch / "words").read_text().split()
        self.assertIn("_TRANSPORT=kernel", words)
        since, until = (next(int(word.split("=@")[1]) for word in words if word.startswith(name)) for name in ("--since", "--until"))
        self.assertTrue(before <= since <= until <= after + 1, (before, words, after))

    def test_a_journal_that_cannot_be_read(self):
        self.record(PROGRAM, "0.2", check=0)
        environment = self.journal("nothing", status=1)
        for arguments, says in ((["journal", self.run_directory], "status 1"), (["journal"], "Name a RUN"), (["journal", PROGRAM], "Name a RUN")):
            done = subprocess.run([PLUMB, "report", "--kernel-log", *arguments], capture_output=True, text=True, env=environment, timeout=60)
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertIn(says, done.stderr)

    def test_offsets_in_a_program(self):
        address, offset = self.code_segment()
        in_file = self.symbol("main") - address + offset
        begin = 0x55d0c0000000 + offset // 4096 * 4096
        ip = 0x55d0c0000000 + in_file
        lines = [f"[ {i}.0] cpu_work[{i + 1}]: segfault at 0 ip {ip:016x} sp 00007ffc0 error 4 in cpu_work[{in_file:x},{begin:x}+1000]" for i in range(5)]
        groups = self.groups(self.log(*lines), PROGRAM)
        self.assertEqual([(group["kind"], group["count"], len(group["pids"])) for group in groups], [("segfault", 5, 5)])
        self.check_main(groups[0])

    def test_older_kernels_name_the_begin_of_the_mapping(self):
        address, offset = self.code_segment()
        ip = 0x7f0000000000 + self.symbol("main") - address + offset % 4096
        groups = self.groups(self.log(f"traps: cpu_work[7] trap invalid opcode ip:{ip:x} sp:7ffd0 error:0 in cpu_work[7f0000000000+1000]"), PROGRAM)
        self.check_main(groups[0])
        self.assertEqual(groups[0]["detail"], "invalid opcode")

    def test_a_recorded_run_knows_where_its_program_was(self):
        self.record(PROGRAM, "1", "10", options=["--no-report"])
        records = [json.loads(line) for line in subprocess.run([PLUMB, "dump", self.run_directory, "--format", "json"], capture_output=True, text=True,
                                                               check=True).stdout.splitlines() if line.startswith("{")]
        module = next(record for record in records if record.get("type") == "ModuleLoad" and record["path_text"].endswith("cpu_work"))
        address, offset = self.code_segment()
        ip = int(module["start"], 16) - module["file_offset"] + self.symbol("main") - address + offset
        groups = self.groups(self.log(f"x86/split lock detection: #AC: cpu_work/{module['pid']} took a split_lock trap at address: {ip:#x}"),
                             self.run_directory)
        self.assertEqual(groups[0]["kind"], "split-lock")
        self.check_main(groups[0])

    def test_a_walk_and_what_is_missing(self):
        lines = [f"walk(7): unaligned access to {0x6000000000012341 + 8 * i:#018x}, ip=0x4000000000000a11" for i in range(30)]
        done = report(self.log(*lines, "ia64_handle_unaligned: 500 callbacks suppressed"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for part in ("each 8 bytes after the one before", "500 of ia64_handle_unaligned", "are what it wrote", "walk was not named"):
            self.assertIn(part, " ".join(done.stdout.split()))
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 160)

    def test_a_long_log_takes_little_memory(self):
        line = "[ 1.0] walk(7): unaligned access to 0x6000000000012341, ip=0x4000000000000a11\n"
        noise = "[ 1.0] usb 1-1: " + "x" * 200 + "\n"
        many = (noise * 50 + line).encode() * 100
        reading, writing = os.pipe()
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        running = subprocess.Popen([PLUMB, "report", "--kernel-log", "-", "--format", "json"], stdin=reading, stdout=subprocess.PIPE)
        os.close(reading)
        with os.fdopen(writing, "wb") as pipe:
            for _ in range(100):  # 100 MB
                pipe.write(many)
            pipe.write(b"y" * 20_000_000)  # without an end
        document = json.loads(running.communicate()[0])
        self.assertEqual(document["groups"][0]["count"], 10_000)
        self.assertEqual(document["lines"], 510_001)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, max(before, 100_000))  # KiB

    def test_nothing_and_no_log(self):
        done = report(self.log("usb 1-1: new device"))
        self.assertIn("no line is about", done.stdout)
        for arguments, says in ((self.scratch / "none",), "No such file"), ((self.log("x"), self.scratch / "absent"), "absent"), \
                ((self.log("x"), "--format", "html"), "as text or json"):
            done = report(*arguments)
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertIn(says, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
