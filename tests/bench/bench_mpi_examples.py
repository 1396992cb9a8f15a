#!/usr/bin/env python3
"""What the MPI examples' cures are said to bring, against what they bring: a recorded run between bare ones, all of them
short, so that a machine that wanders in speed wanders little within a round.

late-rank: the finding's cost beside the difference of the two bare programs (goal: within 15 %).
small-messages: the time that the finding predicts beside that of the cured program (goal: within 25 %).
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from pairs import plumb

LAUNCH = {"Open MPI": ("openmpi", ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader"]),
          "MPICH": ("mpich", ["mpirun.mpich"])}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
CYCLES, STEPS = "1000", "2500"


def bare(command):
    """Seconds of the loop, as the program tells, and of the whole."""
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return float(re.search(r"([\d.]+) seconds", done.stdout)[1]), time.perf_counter() - begin


def finding(identifier, command):
    """The finding of that kind in a recorded run; None: there is none."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        subprocess.run([plumb(), "run", "--no-report", "-o", run, "--", *command], capture_output=True, check=True,
                       env=ENVIRONMENT)
        report = subprocess.run([plumb(), "report", run, "--format", "json"], capture_output=True, check=True)
    found = [one for one in json.loads(report.stdout)["findings"] if one["id"] == identifier]
    return found[0] if found else None


def late_rank(problem, cured):
    """What was told and what was measured; None: nothing was told, or a bound only."""
    before = bare(problem)[0] - bare(cured)[0]
    told = finding("mpi-late-rank", problem)
    after = -bare(cured)[0] + bare(problem)[0]
    if not told or told["cost"]["how"] == "bound":
        return None
    return told["cost"]["seconds"], (before + after) / 2


def small_messages(problem, cured):
    before = bare(cured)[1]
    told = finding("mpi-small-messages", problem)
    after = bare(cured)[1]
    return (told["evidence"]["predicted_seconds"], (before + after) / 2) if told else None


def row(title, one_round, rounds):
    pairs = [pair for pair in (one_round() for _ in range(rounds)) if pair]
    if not pairs:
        print(f"  {title:<36} nothing was told in {rounds} rounds")
        return
    told, measured = zip(*pairs)
    ratios = sorted(one / other for one, other in pairs)
    print(f"  {title:<36} {statistics.median(told):8.3f} {statistics.median(measured):9.3f} "
          f"{statistics.median(told) / statistics.median(measured):7.3f} {ratios[0]:7.3f} {ratios[-1]:7.3f} {len(pairs):5}")
    sys.stdout.flush()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    examples = pathlib.Path(os.environ["PLUMB_PROGRAMS"]).parents[1] / "examples"
    print(f"  {'seconds':<36} {'told':>8} {'measured':>9} {'ratio':>7} {'min':>7} {'max':>7} {'pairs':>5}")
    for told, problem, cured, count in (
            (late_rank, "late-rank/probe-every-cycle", "late-rank/probe-when-printed", CYCLES),
            (small_messages, "small-messages/wave-row-by-row", "small-messages/wave-face-at-once", STEPS)):
        for language, suffix in (("C", ""), ("Fortran", "-f")):
            for name, (mpi, launch) in LAUNCH.items():
                programs = [examples / f"{path}{suffix}.{mpi}" for path in (problem, cured)]
                if shutil.which(launch[0]) and all(program.exists() for program in programs):
                    with_, without = ([shutil.which(launch[0]), *launch[1:], "-n", "2", program, count] for program in programs)
                    row(f"{told.__name__.replace('_', '-')}, {language}, {name}",
                        lambda told=told, with_=with_, without=without: told(with_, without), rounds)


main()
