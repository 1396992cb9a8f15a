#!/usr/bin/env python3
"""How long `plumb report` takes for large MPI jobs, and how much memory: bench_mpi_report.py MAKE_MPI_RUN [RANKS:COLLECTIVES..]

The jobs are made up (make_mpi_run.cpp): every collective after 1 ms of work that differs by 5 % at most, one late rank, and
noise. Sizes for which the scratch folder has no room are left out, and said so. The figure to reach is that of 8,192 ranks
and 10,000 collectives: 60 s and 4 GB on two CPUs. Nothing here asserts a time.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

SIZES = [(256, 2_000), (1_024, 10_000), (8_192, 10_000)]
RANK_FILE_BYTES, COLLECTIVE_BYTES = 8_192, 80


def make(program, run, ranks, collectives):
    begin = time.perf_counter()
    done = subprocess.run([program, run, "--ranks", str(ranks), "--collectives", str(collectives), "--jitter", "0.05",
                           "--late", f"{ranks // 3}:20", "--noise", "0.1:0.0005:all", "--noise", "1:0.007:node=31/32"],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout), time.perf_counter() - begin


def report(run, form):
    """Seconds of wall and CPU time, and bytes of memory at the most."""
    begin = time.perf_counter()
    child = subprocess.Popen([os.environ["PLUMB"], "report", run, "--format", form, "-o", f"{run}/report.{form}"],
                             stdin=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"plumb report ended with {child.returncode}")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def measure(program, scratch, ranks, collectives):
    room, needed = shutil.disk_usage(scratch).free, ranks * (RANK_FILE_BYTES + COLLECTIVE_BYTES * collectives)
    if room < 1.5 * needed:
        print(f"{ranks:>7,} {collectives:>11,}   left out: {needed / 1e9:.1f} GB of files, {room / 1e9:.1f} GB free")
        return
    run = os.path.join(scratch, f"{ranks}-{collectives}")
    try:
        truth, making_s = make(program, run, ranks, collectives)
        for form in ("json", "html"):
            wall_s, cpu_s, bytes_used = report(run, form)
            print(f"{ranks:>7,} {collectives:>11,} {truth['bytes'] / 1e9:>6.2f} {making_s:>8.1f} {form:>6} {wall_s:>8.1f} {cpu_s:>7.1f} "
                  f"{bytes_used / 1e9:>9.2f} {os.path.getsize(f'{run}/report.{form}') / 1e6:>9.2f}", flush=True)
    finally:
        shutil.rmtree(run, ignore_errors=True)


def main():
    sizes = [tuple(map(int, size.split(":"))) for size in sys.argv[2:]] or SIZES
    print(f"{'ranks':>7} {'collectives':>11} {'GB':>6} {'making s':>8} {'report':>6} {'wall s':>8} {'CPU s':>7} {'memory GB':>9} "
          f"{'output MB':>9}")
    with tempfile.TemporaryDirectory(prefix="plumb-mpi-report-") as scratch:
        for ranks, collectives in sizes:
            measure(sys.argv[1], scratch, ranks, collectives)


if __name__ == "__main__":
    main()
