#!/usr/bin/env python3
"""examples/noisy-neighbour: what os-noise says the daemon costs, against what it costs.

What it costs: one bare run in which the daemon runs and does not run, in turns of a few seconds; the steps in a window of whole
periods of the daemon, beside those in the window before. The machine's speed wanders less from one window to the next than from
run to run. The median over the pairs of windows, with a 95 % interval (ranks).
What os-noise says: recorded runs beside the daemon, as a share of their loop. The gain it promises is that cost.

Goals: cost within 20 % of the difference, gain within 15 %, period and length of the daemon within 5 %.
`bench_noise.py [PAIRS [RUNS]]`
"""

import bisect
import contextlib
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from pairs import plumb

LAUNCH = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader"], "mpich": ["mpirun.mpich"]}
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RECORDED_STEPS, EVERY = 6000, 20
ENDLESS = 100_000_000
WARM_UP_S = 3
DAEMONS = [(20, 500), (5, 100), (60, 1000)] # milliseconds: busy, period
WINDOW_S = 2


@contextlib.contextmanager
def beside(program, busy_ms, period_ms):
    cpu = max(os.sched_getaffinity(0))
    with subprocess.Popen([program, str(cpu), "600", str(busy_ms), str(period_ms)]) as daemon:
        try:
            yield
        finally:
            daemon.kill()


class Progress:
    """A running job, and when it came to which step."""

    def __init__(self, command):
        self.times, self.steps = [], []
        self.job = subprocess.Popen([*command, str(ENDLESS), str(EVERY)], stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.job.stdout:
            if found := re.match(r"step (\d+)", line):
                self.steps.append(int(found[1]))
                self.times.append(time.monotonic())

    def end(self):
        self.job.terminate()
        self.job.wait()
        self.reader.join()

    def at(self, moment):
        right = bisect.bisect(self.times, moment)
        (begin, end), (from_step, to_step) = self.times[right - 1:right + 1], self.steps[right - 1:right + 1]
        return from_step + (to_step - from_step) * (moment - begin) / (end - begin)

    def step_s(self, begin, end):
        return (end - begin) / (self.at(end) - self.at(begin))


def measured_shares(command, daemon, busy_ms, period_ms, pairs):
    """Of each pair of windows: the part of the time of a step that the daemon takes."""
    progress = Progress(command)
    windows = []
    try:
        time.sleep(WARM_UP_S)
        for _ in range(pairs):
            quiet = time.monotonic()
            time.sleep(WINDOW_S)
            with beside(daemon, busy_ms, period_ms):
                noisy = time.monotonic() + 0.5e-3 * period_ms # its first event is half a period later
                time.sleep(0.75e-3 * period_ms + WINDOW_S)
            windows.append((quiet, noisy))
            time.sleep(0.1)
        time.sleep(0.5)
        if progress.job.poll() is not None:
            raise SystemExit(f"{command} ended with {progress.job.returncode}")
    finally:
        progress.end()
    shares = []
    for quiet, noisy in windows:
        quiet_s, noisy_s = (progress.step_s(begin, begin + WINDOW_S) for begin in (quiet, noisy))
        shares.append((noisy_s - quiet_s) / noisy_s)
    return shares


def recorded(command, name):
    """The finding, and the seconds of the loop; None: there is none."""
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "run"
        done = subprocess.run([plumb(), "run", "--no-report", "-o", run, "--", *command, str(RECORDED_STEPS)], capture_output=True, text=True,
                              check=True, env=ENVIRONMENT)
        loop_s = 1e-3 * RECORDED_STEPS * float(re.search(r"([\d.]+) ms a step", done.stdout)[1])
        report = subprocess.run([plumb(), "report", run, "--format", "json"], capture_output=True, check=True)
    for one in json.loads(report.stdout)["findings"]:
        if one["id"] == "os-noise" and one["subject"]["name"] == name:
            return one, loop_s
    return None


def interval_of_median(values):
    """95 %, from the ranks (normal approximation of the binomial distribution)."""
    values, count = sorted(values), len(values)
    off = 0.98 * count ** 0.5
    return values[max(0, round(count / 2 - off) - 1)], values[min(count - 1, round(count / 2 + off))]


def main():
    pairs, runs = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 30), (2, 5)))
    examples = pathlib.Path(os.environ["PLUMB_PROGRAMS"]).parents[1] / "examples" / "noisy-neighbour"
    print(f"  {'daemon, MPI':<28} {'said':>7} {'measured':>9} {'95 %':>15} {'ratio':>6} {'period ms':>10} {'length ms':>10} {'named':>6}")
    for mpi, launch in LAUNCH.items():
        command = [*launch, "-n", "2", examples / f"heat.{mpi}"]
        for busy_ms, period_ms in DAEMONS:
            shares = measured_shares(command, examples / "pollerd", busy_ms, period_ms, pairs)
            measured, (low, high) = statistics.median(shares), interval_of_median(shares)
            with beside(examples / "pollerd", busy_ms, period_ms):
                found = [one for _ in range(runs) if (one := recorded(command, "pollerd"))]
            what = f"{busy_ms} ms every {period_ms} ms, {mpi}"
            if not found:
                print(f"  {what:<28} not named in {runs} runs; measured {measured:.2%}", flush=True)
                continue
            cost = statistics.median(one["cost"]["seconds"] / loop_s for one, loop_s in found)
            period, length = (statistics.median([one["evidence"].get(f"class_{key}_ms", 0) for one, _ in found]) # 0: no class
                              for key in ("period", "duration"))
            print(f"  {what:<28} {cost:7.2%} {measured:9.2%} {f'{low:.2%} to {high:.2%}':>15} {cost / measured:6.2f} {period:10.1f} "
                  f"{length:10.2f} {len(found):3}/{runs}", flush=True)


if __name__ == "__main__":
    main()
