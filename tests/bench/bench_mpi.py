"""What recording costs an MPI call, beside a wrapper that only calls through.

usage: bench_mpi.py BENCH_MPI.C CALL_THROUGH.C SHIM. Each MPI library that is installed compiles both with its own
compiler. Each round runs every variant once, in turn; printed are medians over the rounds of CPU nanoseconds a call, and of the
difference to the call-through run of the same round, of which "clock reads" is what a wrapper adds that does nothing but read
the time stamp counter before and after: on virtual machines most of what an MPI profiler can cost. Nothing is asserted.

For orientation, measured elsewhere on this kind of machine (not installable from Debian's packages): mpiP adds 250 ns a call
without call sites, 2,900 ns with them, 7,300 ns at depth 8, and 84 ms to MPI_Finalize.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROUNDS = int(os.environ.get("PLUMB_BENCH_ROUNDS", 7))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
LAUNCH = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader"], "mpich": ["mpirun.mpich"]}
CASES = [("probe", 1), ("test", 1), ("send", 1), ("send", 8), ("message", 1), ("reduce", 1), ("reduce", 8)]
CALLS = {"probe": 1000000, "test": 1000000, "send": 1000000, "message": 300000, "reduce": 500000}


def built(mpi, source, output, *options):
    done = subprocess.run([f"mpicc.{mpi}", "-O2", "-w", *options, source, "-o", output], capture_output=True, text=True)
    return done.returncode == 0


def run(mpi, program, what, depth, ranks, preload, scratch):
    settings = [f"LD_PRELOAD={preload}"] if preload else []
    settings += [f"PLUMB_RUN={scratch}", "PLUMB_COLLECTORS=mpi,threads,modules"]
    done = subprocess.run([*LAUNCH[mpi], "-n", str(ranks), "env", *settings, program, what, str(depth), str(CALLS[what])],
                          env=ENVIRONMENT, capture_output=True, text=True, timeout=300)
    for file in os.scandir(scratch):
        os.unlink(file)
    if done.returncode != 0:
        raise SystemExit(f"{program} {what} ended with {done.returncode}: {done.stderr[-1000:]}")
    return [tuple(map(float, line.split())) for line in done.stdout.splitlines()]


def calls(mpi, program, variants, scratch):
    print(f"\n{mpi}, ns a call (medians of {ROUNDS} rounds)")
    print(f"  {'call':12}{'depth':>6}" + "".join(f"{name:>15}" for name, _ in variants) +
          f"{'clock reads add':>18}{'plumb adds':>22}")
    for what, depth in CASES:
        figures = {name: [] for name, _ in variants}
        for _ in range(ROUNDS):
            for name, preload in variants:
                figures[name].append(run(mpi, program, what, depth, 1, preload, scratch)[0][0])
        clock, added = ([one - other for one, other in zip(figures[name], figures["call-through"])]
                        for name in ("clock reads", "plumb"))
        print(f"  {what:12}{depth:6}" + "".join(f"{statistics.median(figures[name]):15.1f}" for name, _ in variants) +
              f"{statistics.median(clock):18.1f}{statistics.median(added):8.1f} ({min(added):.0f} to {max(added):.0f})",
              flush=True)


def ends(mpi, program, variants, scratch):
    """MPI_Init and MPI_Finalize of two ranks: the slower one's."""
    print(f"{mpi}, 2 ranks, ms")
    for index, label in ((1, "MPI_Init"), (2, "MPI_Finalize")):
        figures = {name: [] for name, _ in variants}
        for _ in range(ROUNDS):
            for name, preload in variants:
                figures[name].append(1000 * max(rank[index] for rank in
                                                run(mpi, program, "send", 1, 2, preload, scratch)))
        added = [one - other for one, other in zip(figures["plumb"], figures["call-through"])]
        print(f"  {label:18}" + "".join(f"{statistics.median(figures[name]):15.1f}" for name, _ in variants) +
              f"{statistics.median(added):8.1f} ({min(added):.0f} to {max(added):.0f})", flush=True)


def main():
    source, through_source, shim = sys.argv[1:4]
    scratch = tempfile.mkdtemp(prefix="plumb-bench-")
    try:
        for mpi in LAUNCH:
            program, through, clock = (f"{scratch}/{name}.{mpi}" for name in ("bench_mpi", "through", "clock"))
            if not shutil.which(f"mpicc.{mpi}") or not shutil.which(LAUNCH[mpi][0]) or \
                    not built(mpi, source, program) or not built(mpi, through_source, through, "-shared", "-fPIC") or \
                    not built(mpi, through_source, clock, "-shared", "-fPIC", "-DCLOCK_READS"):
                print(f"{mpi}: not installed here")
                continue
            run_directory = tempfile.mkdtemp(dir=scratch)
            variants = [("bare", None), ("call-through", through), ("clock reads", clock), ("plumb", shim)]
            calls(mpi, program, variants, run_directory)
            ends(mpi, program, variants, run_directory)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


main()
