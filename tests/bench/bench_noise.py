#!/usr/bin/env python3
"""examples/noisy-neighbour: what os-noise says the daemon costs, against what it costs: a recorded run beside the daemon, between
bare runs without it and with it.

Goals: cost within 20 % of the difference, period and length of the daemon within 5 %. `bench_noise.py [ROUNDS]`
"""

import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from pairs import plumb

LAUNCH = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader"], "mpich": ["mpirun.mpich"]}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
STEPS = 4000
DAEMONS = [(20, 500), (5, 100), (60, 1000)] # milliseconds: busy, period


@contextlib.contextmanager
def beside(program, busy_ms, period_ms):
    cpu = max(os.sched_getaffinity(0))
    with subprocess.Popen([program, str(cpu), "600", str(busy_ms), str(period_ms)]) as daemon:
        try:
            yield
        finally:
            daemon.kill()


def loop_seconds(command):
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT)
    return 1e-3 * STEPS * float(re.search(r"([\d.]+) ms a step", done.stdout)[1])


def finding(command, name):
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        subprocess.run([plumb(), "run", "--no-report", "-o", run, "--", *command], capture_output=True, check=True, env=ENVIRONMENT)
        report = subprocess.run([plumb(), "report", run, "--format", "json"], capture_output=True, check=True)
    found = [one for one in json.loads(report.stdout)["findings"] if one["id"] == "os-noise" and one["subject"]["name"] == name]
    return found[0] if found else None


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    examples = pathlib.Path(os.environ["PLUMB_PROGRAMS"]).parents[1] / "examples" / "noisy-neighbour"
    print(f"  {'daemon, MPI':<28} {'estimated s':>11} {'measured s':>11} {'ratio':>6} {'period ms':>10} {'length ms':>10} {'named':>6}")
    for mpi, launch in LAUNCH.items():
        command = [*launch, "-n", "2", examples / f"heat.{mpi}", str(STEPS)]
        for busy_ms, period_ms in DAEMONS:
            estimated, measured, periods, lengths = [], [], [], []
            for _ in range(rounds):
                quiet = loop_seconds(command)
                with beside(examples / "pollerd", busy_ms, period_ms):
                    noisy = loop_seconds(command)
                    found = finding(command, "pollerd")
                    noisy = (noisy + loop_seconds(command)) / 2
                quiet = (quiet + loop_seconds(command)) / 2
                measured.append(noisy - quiet)
                if found:
                    estimated.append(found["cost"]["seconds"])
                    periods.append(found["evidence"].get("class_period_ms", float("nan")))
                    lengths.append(found["evidence"].get("class_duration_ms", float("nan")))
            if not estimated:
                print(f"  {busy_ms} ms every {period_ms} ms, {mpi}: not named in {rounds} rounds")
                continue
            estimate, difference = statistics.median(estimated), statistics.median(measured)
            print(f"  {f'{busy_ms} ms every {period_ms} ms, {mpi}':<28} {estimate:11.3f} {difference:11.3f} "
                  f"{estimate / difference:6.2f} {statistics.median(periods):10.1f} {statistics.median(lengths):10.2f} "
                  f"{len(estimated):3}/{rounds}", flush=True)


if __name__ == "__main__":
    main()
