"""What the tests of the shim alone share: programs run bare and with the shim preloaded, their traces read back."""

import os
import pathlib
import struct
import subprocess

from plumb_test import PROGRAMS, PlumbTest
from trace_reader import Trace

SHIM = pathlib.Path(os.environ["PLUMB_SHIM"])
SHIM_PROGRAMS = PROGRAMS / "shim"


class ShimTest(PlumbTest):
    def setUp(self):
        super().setUp()
        self.run_directory.mkdir(mode=0o700)

    def shimmed_environment(self, **variables):
        preloads = [str(SHIM), *filter(None, [variables.pop("LD_PRELOAD", None)])]
        return {**os.environ, "PLUMB_RUN": str(self.run_directory), "LD_PRELOAD": ":".join(preloads), **variables}

    def start(self, *command, **variables):
        return subprocess.Popen(self.command(command), env=self.shimmed_environment(**variables),
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run_bare(self, *command, **variables):
        return self.finish(command, {**os.environ, **variables})

    def run_shimmed(self, *command, **variables):
        return self.finish(command, self.shimmed_environment(**variables))

    def run_both(self, *command, **variables):
        """Runs it bare and shimmed and checks that nobody can tell the difference; the shimmed one's result."""
        bare, shimmed = self.run_bare(*command, **variables), self.run_shimmed(*command, **variables)
        self.assertEqual((bare.returncode, bare.stdout, bare.stderr),
                         (shimmed.returncode, shimmed.stdout, shimmed.stderr))
        return shimmed

    def traces(self, program=None):
        traces = [Trace(path) for path in sorted(self.run_directory.glob("process-*.plumb"))]
        return [trace for trace in traces if program in (None, trace.program)]

    def has_begun(self, program):
        """Whether a process that may still run has a trace. Traces that are just being made do not count yet."""
        for path in self.run_directory.glob("process-*.plumb"):
            try:
                if Trace(path).program == program:
                    return True
            except (ValueError, LookupError, struct.error):
                continue
        return False

    def trace(self, program=None):
        traces = self.traces(program)
        self.assertEqual(len(traces), 1, [trace.path.name for trace in traces])
        return traces[0]

    @staticmethod
    def command(command):
        return [str(SHIM_PROGRAMS / command[0]) if "/" not in str(command[0]) else str(command[0]),
                *map(str, command[1:])]

    def finish(self, command, environment):
        return subprocess.run(self.command(command), env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=120)
