"""Completion and the manual page know every command and option that plumb itself knows."""

import re
import subprocess
import unittest

from plumb_test import PLUMB, TREE

COMMANDS = TREE / "analyzer" / "commands"


def help_of(*words):
    return subprocess.run([PLUMB, *words, "--help"], capture_output=True, text=True).stdout


def commands():
    return re.findall(r"^  ([a-z]+) ", help_of().split("Subcommands:")[1], re.M)


def options(command):
    return set(re.findall(r"(?:^|[ ,])(--[a-z][a-z-]*)", help_of(command))) - {"--help"}


def complete(*words):
    """What bash offers for the last of `words`."""
    script = (f"source '{COMMANDS / 'completion.bash'}'; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _plumb;"
              ' printf "%s\\n" "${COMPREPLY[@]}"')
    done = subprocess.run(["bash", "-c", script, "bash", PLUMB, *words], capture_output=True, text=True)
    return set(done.stdout.split())


class Completion(unittest.TestCase):
    def test_commands(self):
        self.assertGreaterEqual(set(commands()), {"doctor", "report", "run"})
        self.assertEqual(complete(""), set(commands()))

    def test_options_of_every_command(self):
        for command in commands():
            with self.subTest(command=command):
                self.assertGreaterEqual(complete(command, "--"), options(command))

    def test_programs_behind_the_dashes(self):
        self.assertIn("sort", complete("run", "--", "sor"))


class Manual(unittest.TestCase):
    def test_names_every_command_and_option(self):
        text = (COMMANDS / "plumb.1").read_text().replace("\\-", "-")
        for command in commands():
            self.assertIn(f".SS plumb {command}", text)
            for option in options(command):
                self.assertIn(option, text, f"of plumb {command}")

    def test_is_well_formed(self):
        try:
            done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z", str(COMMANDS / "plumb.1")],
                                  capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest("groff is not installed")
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
