#!/usr/bin/env python3
"""How long `plumb report` takes for large MPI jobs, and how much memory: bench_mpi_report.py MAKE_MPI_RUN [RANKS:COLLECTIVES..]

The jobs are made up (make_mpi_run.cpp): every collective after 1 ms of work that differs by 5 % at most, one late rank, and
noise. Sizes for which the scratch folder has no room are left out, and said so. The figure to reach is that of 8,192 ranks
and 10,000 collectives: 60 s and 4 GB on two CPUs. Nothing here asserts a time.

Below each size stands one process against two under mpirun, in pairs: "1 CPU" is one process with one CPU, as each of the two
has one; "2 CPUs" one process whose threads have both. "CPU s" is of the process that needs most, and memory likewise: where
other programs want the CPUs, that ratio tells what the wall times would be.
"""
import json
import os
import shutil
import subprocess
import statistics
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


LAUNCHERS = {"Open MPI": ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none"], "MPICH": ["mpirun.mpich"]}
# What one process prints about itself when it ends: its CPU seconds, and its memory at the most.
WRAPPED = """import os, resource, sys
status = os.spawnv(os.P_WAIT, sys.argv[2], sys.argv[2:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1] + str(os.getpid()), "w") as out:
    print(used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, file=out)
sys.exit(status)"""


def processes(run, launch, processes_count, cpus):
    """Wall seconds of the whole command; CPU seconds and bytes of the process that needs most of each."""
    plumb = shutil.which(os.environ["PLUMB"])
    told = tempfile.mkdtemp(prefix="used-", dir=run)
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    begin = time.perf_counter()
    subprocess.run([*launch, *(["-n", str(processes_count)] if launch else []), sys.executable, "-c", WRAPPED, f"{told}/",
                    plumb, "report", run, "--format", "json", "-o", f"{run}/{processes_count}.json"], check=True,
                   stdin=subprocess.DEVNULL, env=environment, preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    wall_s = time.perf_counter() - begin
    used = [tuple(map(float, open(os.path.join(told, name)).read().split())) for name in os.listdir(told)]
    shutil.rmtree(told)
    return wall_s, max(cpu_s for cpu_s, _ in used), max(memory for _, memory in used)


def compare(run, ranks, collectives, pairs=3):
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        print("one process against two: left out, there is one CPU")
        return
    for name, launch in LAUNCHERS.items():
        if not shutil.which(launch[0]):
            continue
        rows = [(processes(run, [], 1, cpus[:1]), processes(run, [], 1, cpus), processes(run, launch, 2, cpus))
                for _ in range(pairs)]
        same = open(f"{run}/1.json", "rb").read() == open(f"{run}/2.json", "rb").read()
        middle = [[statistics.median(row[place][value] for row in rows) for value in range(3)] for place in range(3)]
        ratios = [statistics.median(row[2][value] / row[place][value] for row in rows) for place, value in ((0, 0), (1, 0), (0, 1))]
        print(f"{ranks:>7,} {collectives:>11,} {name:>9} {middle[0][0]:>8.1f} {middle[1][0]:>8.1f} {middle[2][0]:>8.1f} "
              f"{ratios[0]:>8.2f} {ratios[1]:>8.2f} {middle[0][1]:>8.1f} {middle[2][1]:>8.1f} {ratios[2]:>8.2f} "
              f"{middle[0][2] / 1e9:>8.2f} {middle[2][2] / 1e9:>8.2f}   {'same bytes' if same else 'OTHER BYTES'}", flush=True)


PAIRS_HEAD = (f"{'ranks':>7} {'collectives':>11} {'launcher':>9} {'wall s':>8} {'wall s':>8} {'wall s':>8} {'of 1 CPU':>8} {'of 2':>8} "
              f"{'CPU s':>8} {'CPU s':>8} {'ratio':>8} {'GB':>8} {'GB':>8}\n"
              f"{'':>29} {'1 CPU':>8} {'2 CPUs':>8} {'2 proc.':>8} {'':>8} {'':>8} {'1 proc.':>8} {'2 proc.':>8} {'':>8} {'1 proc.':>8} {'2 proc.':>8}")


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
        print(PAIRS_HEAD)
        compare(run, ranks, collectives)
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
