"""Paired timing for benchmarks: this machine's speed wanders, so only runs beside each other are compared.

Each round runs every variant once, in turn; the figure of a variant is the median over the rounds of its ratio
to the bare run of the same round. Absolute times are printed for orientation and never compared.
"""

import os
import resource
import statistics
import subprocess
import sys
import time


def seconds_of(command, **popen):
    """Wall seconds of one run, start-up and exit included, and CPU seconds of it and of all its descendants that were
    waited for. A failing command ends the benchmark."""
    cpu_begin = children_cpu_seconds()
    begin = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, **popen)
    elapsed = time.perf_counter() - begin
    if done.returncode != 0:
        sys.stderr.write(done.stderr.decode(errors="replace")[-2000:])
        raise SystemExit(f"{command} ended with {done.returncode}")
    return elapsed, children_cpu_seconds() - cpu_begin


def children_cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def compare(title, bare, variants, rounds=7, before=None, **popen):
    """Prints one table row per variant: median, minimum and maximum of the ratio to bare, of wall time and of the CPU
    time of all processes (which neighbours disturb less, but which counts what another CPU does meanwhile), and the
    median of the wall seconds.

    `variants` maps a name to a command, or to a function that makes one (fresh output folders). `before` is called
    before each run. Returns {name: median ratio}.
    """
    def made(command):
        return command() if callable(command) else command

    def run(command):
        if before:
            before()
        return seconds_of(made(command), **popen)

    run(bare)  # warm caches; not counted
    ratios = {name: [] for name in variants}
    times = {name: [] for name in variants}
    cpu_ratios = {name: [] for name in variants}
    bare_times = []
    for round_number in range(rounds):
        # Who goes first alternates, so that a drift of the machine does not favour one side.
        order = list(variants) if round_number % 2 == 0 else list(reversed(variants))
        bare_first = round_number % 2 == 0
        bare_run = run(bare) if bare_first else None
        seen = {name: run(variants[name]) for name in order}
        if not bare_first:
            bare_run = run(bare)
        bare_seconds, bare_cpu = bare_run
        bare_times.append(bare_seconds)
        for name, (seconds, cpu_seconds) in seen.items():
            times[name].append(seconds)
            ratios[name].append(seconds / bare_seconds)
            cpu_ratios[name].append(cpu_seconds / bare_cpu if bare_cpu else float("nan"))
    print(f"\n{title}: bare {statistics.median(bare_times):.3f} s, {rounds} pairs")
    print(f"  {'variant':<28} {'wall':>7} {'min':>7} {'max':>7} {'CPU':>7} {'min':>7} {'max':>7} {'median s':>9}")
    for name in variants:
        columns = (f"{statistics.median(values[name]):7.3f} {min(values[name]):7.3f} {max(values[name]):7.3f}"
                   for values in (ratios, cpu_ratios))
        print(f"  {name:<28} {' '.join(columns)} {statistics.median(times[name]):9.3f}")
    sys.stdout.flush()
    return {name: statistics.median(values) for name, values in ratios.items()}


def plumb():
    """The plumb under test: $PLUMB, set by the build."""
    return os.environ["PLUMB"]


def tree_cpu_seconds(command):
    """Runs it: its output, and the CPU seconds of it and of all descendants that were waited for."""
    begin = children_cpu_seconds()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    end = children_cpu_seconds()
    if done.returncode != 0:
        sys.stderr.write(done.stderr[-2000:])
        raise SystemExit(f"{command} ended with {done.returncode}")
    return done.stdout, end - begin


def ratio_text(above, below):
    """Median, minimum and maximum of the ratios of paired figures."""
    ratios = [one / other for one, other in zip(above, below)]
    places = 3 if max(ratios) < 10 else 1
    return f"{statistics.median(ratios):.{places}f} ({min(ratios):.{places}f} to {max(ratios):.{places}f})"
