"""Modules: what the loader loads is recorded with its build id, and dlopen still knows who calls it."""

import re
import subprocess
import sys
import unittest

from shim_test import SHIM, SHIM_PROGRAMS, ShimTest
from plumb_test import TREE

MPI_HOOKS = TREE / "preload" / "hooks" / "mpi"
sys.path.insert(0, str(MPI_HOOKS))
import generate # noqa: E402


def build_id(path):
    notes = subprocess.run(["readelf", "-n", str(path)], capture_output=True, text=True).stdout
    found = re.search(r"Build ID: ([0-9a-f]+)", notes)
    return found.group(1) if found else ""


class Modules(ShimTest):
    def test_at_start(self):
        self.run_both("ends", "exit")
        modules = {module["path"]: module for module in self.trace().of("ModuleLoad")}
        program = modules[str(SHIM_PROGRAMS / "ends")]
        self.assertEqual(program["flags"], 1)
        self.assertEqual(program["inode"], (SHIM_PROGRAMS / "ends").stat().st_ino)
        self.assertIn("[vdso]", modules)
        for library in ("libc.so", "ld-linux", "libplumb.so"):
            self.assertTrue(any(library in path for path in modules), library)
        for path, module in modules.items():
            if path.startswith("/"):
                self.assertEqual(module["build_id"][:module["build_id_size"]].hex(), build_id(path), path)

    def test_loaded_and_unloaded(self):
        done = self.run_both("load_modules")
        self.assertEqual(done.stdout.count("answers 42"), 3) # RUNPATH and $ORIGIN found it: the caller was known
        trace = self.trace()
        plugins = [module for module in trace.of("ModuleLoad") if "libplumb_test_plugin" in (module["path"] or "")]
        gone = {module["id"] for module in trace.of("ModuleUnload")}
        self.assertGreaterEqual(len(plugins), 1)
        self.assertLessEqual({module["id"] for module in plugins}, gone)
        self.assertEqual(plugins[0]["build_id"].hex(),
                         build_id(SHIM_PROGRAMS / "plugins" / "libplumb_test_plugin.so"))

    def test_first_blocks_begin_where_they_would(self):
        for variables in {}, {"PLUMB_HEAP": "full"}, {"PLUMB_HEAP": "off"}, {"PLUMB_ALIGN": "exact"}, {"PLUMB_ALIGN": "off"}:
            with self.subTest(variables):
                self.run_both("first_blocks", **variables)

    def test_storm_of_loads_threads_and_forks(self):
        for hz in ("", "250"):
            with self.subTest(hz=hz):
                self.run_both("storm", PLUMB_TIMER_HZ=hz)
                traces = self.traces()
                self.assertEqual(len(traces), 61)
                for trace in traces: # reading them checks every chunk and record
                    self.assertTrue(trace.closed)
                    self.assertTrue(trace.of("ModuleLoad"))
                    trace.path.unlink()


class Library(unittest.TestCase):
    def test_exports_the_hooks_and_nothing_else(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", str(SHIM)], capture_output=True, text=True,
                                 check=True).stdout
        exported = sorted(line.split()[-1] for line in symbols.splitlines())
        hooks = subprocess.run([str(SHIM_PROGRAMS / "hook_names")], capture_output=True, text=True, check=True).stdout
        mpi_names = generate.exported_names(generate.read_forms(MPI_HOOKS / "calls.json"))
        self.assertEqual(exported, sorted(hooks.split() + mpi_names))

    def test_needs_the_c_library_alone(self):
        dynamic = subprocess.run(["readelf", "-dW", str(SHIM)], capture_output=True, text=True, check=True).stdout
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)
        self.assertLessEqual(set(needed), {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"})
        self.assertIn("libc.so.6", needed)
        self.assertNotIn("TEXTREL", dynamic)


if __name__ == "__main__":
    unittest.main()
