"""Cost of one malloc/free pair, at call depth 10 and from 65,536 call paths in turn: plumb's heap modes beside a call-through
wrapper and other tools.

usage: bench_malloc.py PROGRAM PATHS_PROGRAM CALL_THROUGH_LIBRARY SHIM. Each round runs every variant once, in turn; printed are
medians over the rounds of CPU nanoseconds a pair. Nothing is asserted.
"""

import glob
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROUNDS = 7


def library(pattern):
    found = sorted(glob.glob(pattern))
    return found[0] if found else None


def variants(call_through, shim, scratch):
    run = {"PLUMB_RUN": scratch, "LD_PRELOAD": shim}
    yield "bare", {}, 1000000
    yield "call-through wrapper", {"LD_PRELOAD": call_through}, 1000000
    yield "plumb --heap=off", {**run, "PLUMB_HEAP": "off"}, 1000000
    yield "plumb --heap=sample", {**run, "PLUMB_HEAP": "sample"}, 1000000
    yield "plumb --heap=full", {**run, "PLUMB_HEAP": "full"}, 1000000
    heaptrack = library("/usr/lib*/heaptrack/libheaptrack_preload.so") or \
        library("/usr/lib/*/heaptrack/libheaptrack_preload.so")
    if heaptrack:
        yield "heaptrack (raw)", {"LD_PRELOAD": heaptrack, "DUMP_HEAPTRACK_OUTPUT": scratch + "/heaptrack"}, 50000
    jemalloc = library("/usr/lib/*/libjemalloc.so.2")
    if jemalloc:
        yield "jemalloc", {"LD_PRELOAD": jemalloc}, 1000000
        yield "jemalloc, profiling", {"LD_PRELOAD": jemalloc, "MALLOC_CONF": "prof:true,prof_prefix:" + scratch}, 1000000
    tcmalloc = library("/usr/lib/*/libtcmalloc.so.4")
    if tcmalloc:
        yield "tcmalloc", {"LD_PRELOAD": tcmalloc}, 1000000
        yield "tcmalloc, heap profiler", {"LD_PRELOAD": tcmalloc, "HEAPPROFILE": scratch + "/tcmalloc"}, 20000


def print_paths(program, table, scratch):
    """65,536 paths: through sixteen functions, and through one that calls itself; the latter two columns are the first time."""
    figures = {name: [] for name, _, _ in table}
    for _ in range(ROUNDS):
        for name, environment, _ in table:
            done = subprocess.run([program, "4" if "heaptrack" in name else "20"], env={**os.environ, **environment},
                                  capture_output=True, text=True, timeout=300)
            if done.returncode == 0:
                figures[name].append([float(word) for word in done.stdout.split()])
            for file in os.scandir(scratch):
                os.unlink(file)
    print(f"\n{'65,536 paths':26}{'functions':>12}{'recursion':>12}{'first time':>12}{'':>12}")
    for name, rows in figures.items():
        if rows:
            print(f"{name:26}" + "".join(f"{statistics.median(column):12.1f}" for column in zip(*rows)))


def main():
    program, paths_program, call_through, shim = sys.argv[1:5]
    scratch = tempfile.mkdtemp(prefix="plumb-bench-")
    try:
        table = list(variants(call_through, shim, scratch))
        figures = {(name, threads): [] for name, _, _ in table for threads in (1, 2)}
        for _ in range(ROUNDS):
            for name, environment, pairs in table:
                for threads in (1, 2):
                    done = subprocess.run([program, str(threads), str(pairs)], env={**os.environ, **environment},
                                          capture_output=True, text=True, timeout=300)
                    if done.returncode == 0:
                        figures[name, threads].append(float(done.stdout))
                    for file in os.scandir(scratch):
                        os.unlink(file)
        print(f"{'ns a malloc/free pair':26}{'1 thread':>12}{'2 threads':>12}{'over bare':>12}{'over wrapper':>14}")
        median = {key: statistics.median(values) for key, values in figures.items() if values}
        for name, _, _ in table:
            if (name, 1) not in median:
                print(f"{name:26}{'does not run':>12}")
                continue
            one = median[name, 1]
            print(f"{name:26}{one:12.1f}{median.get((name, 2), float('nan')):12.1f}{one - median['bare', 1]:+12.1f}"
                  f"{one - median['call-through wrapper', 1]:+14.1f}")
        print_paths(paths_program, table, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
