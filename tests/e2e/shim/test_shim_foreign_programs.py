"""A program that the shim cannot be loaded into (of another ELF class) is started without it, and without a word."""

import pathlib
import unittest

from shim_test import SHIM_PROGRAMS, ShimTest

LOADER = pathlib.Path("/lib/ld-linux.so.2")


class ForeignPrograms(ShimTest):
    def start_each_way(self, kind, **variables):
        program = SHIM_PROGRAMS / f"print_preload_32_{kind}"
        if not program.exists():
            self.skipTest("the compiler makes no 32-bit programs")
        if kind == "dynamic" and not LOADER.exists():
            self.skipTest(f"no 32-bit loader: {LOADER}")
        script = self.scratch / "script"
        script.write_text(f"#! {program} an argument\n")
        script.chmod(0o755)
        # What it prints is its own LD_PRELOAD, so that equal output means: the shim's entry is gone, others stay.
        done = self.run_both("exec_foreign", program, script, **variables)
        self.assertEqual(done.stdout.count("status 41\n"), 14, done.stdout)
        self.assertEqual(done.stdout.count("LD_OTHER=kept\n"), 14)
        return done

    def test_nothing_else_is_preloaded(self):
        for kind in "static", "dynamic":
            with self.subTest(kind):
                done = self.start_each_way(kind)
                self.assertNotIn("LD_PRELOAD", done.stdout)
                self.assertEqual(done.stderr, "")

    def test_the_preloads_of_others_stay(self):
        marker = str(SHIM_PROGRAMS / "preload_marker.so")
        done = self.start_each_way("static", LD_PRELOAD=marker)
        self.assertEqual(done.stdout.count(f"LD_PRELOAD={marker}\n"), 14)

    def test_from_a_shell(self):
        program = SHIM_PROGRAMS / "print_preload_32_dynamic"
        if not program.exists() or not LOADER.exists():
            self.skipTest("no 32-bit programs here")
        done = self.run_both("/bin/sh", "-c", f"'{program}'; echo $?")
        self.assertTrue(done.stdout.endswith("41\n"))
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
