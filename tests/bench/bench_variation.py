#!/usr/bin/env python3
"""plumb repeat: how much of the variance of runs is apportioned to the cause that was planted in them.

`by the draw`: the share of the variance of wall time between the runs that had the cause and those that had not. It is the truth, which
plumb does not know; of the position of the stack, which the kernel draws, there is none. Goal: four fifths of it to the right cause, and
none in even runs. `bench_variation.py [RUNS]`
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import planted_variations as planted
from pairs import plumb

RUNS = 16
UNKNOWN_DRAW = {planted.STACK, "even runs"}


def repeated(script, runs):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        command = [plumb(), "repeat", "-n", str(runs), "--warm-up", "0", "-o", folder / "set", "--format", "json", "--", "sh", "-c",
                   planted.drawing(script, folder / "count")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["commands"][0]


def share_of_the_draw(command):
    seconds = [run["wall_seconds"] for run in command["runs"]]
    sides = [[wall for run, wall in enumerate(seconds) if planted.drawn_of(run) == drawn] for drawn in (0, 1)]
    within = sum(statistics.pvariance(side) * len(side) for side in sides) / len(seconds)
    return 1 - within / statistics.pvariance(seconds)


def share_of(variation, cause):
    if cause == planted.WAITING:
        return sum(part["variance_fraction"] for part in variation["parts"] if part["name"] == cause)
    return sum(one["variance_fraction"] for one in variation["conditions"] if cause in [one["name"], *one["equally"]])


def named(variation):
    parts = [(part["variance_fraction"], part["name"]) for part in variation["parts"] if part["name"] == planted.WAITING]
    conditions = [(one["variance_fraction"], " = ".join([one["name"], *one["equally"]])) for one in variation["conditions"]]
    return ", ".join(f"{share:.0%} {name}" for share, name in sorted(parts + conditions, reverse=True) if share >= 0.005)


def row(cause, command):
    variation, seconds = command["variation"], [run["wall_seconds"] for run in command["runs"]]
    draw = "" if cause in UNKNOWN_DRAW else f"{share_of_the_draw(command):.0%}"
    found = "" if cause == "even runs" else f"{share_of(variation, cause):.0%}"
    print(f"  {cause:<44} {min(seconds):5.2f} to {max(seconds):5.2f} s {draw:>12} {found:>9} {variation['unexplained_fraction']:>12.0%}  "
          f"{named(variation) if variation['is_known'] else 'cannot tell'}", flush=True)


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    programs = pathlib.Path(os.environ["PLUMB_PROGRAMS"])
    print(f"  {'planted':<44} {'runs':>15} {'by the draw':>13} {'by plumb':>9} {'unexplained':>12}  all that plumb names")
    for cause, script in ((planted.CPU, planted.one_of_two_cpus(programs)), (planted.HUGE_PAGES, planted.huge_pages(programs)),
                          (planted.WAITING, planted.neighbour(programs)), (planted.STACK, planted.stack_position(programs)),
                          ("even runs", planted.even(programs))):
        row(cause, repeated(script, 30 if cause == planted.STACK else runs))
    for filling in range(4):  # each meets other positions within a cache line
        row(planted.ENVIRONMENT, repeated(planted.environment_size(programs, filling), runs))


if __name__ == "__main__":
    main()
