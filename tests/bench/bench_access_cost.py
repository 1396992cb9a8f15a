"""What it costs a program that its memory accesses are sampled, at the default rate and at 10 kHz: ratios to the bare program
of the same round, of CPU time (the program's and the recorder's together) and of wall time, start and end included.
Usage: bench_access_cost.py FLOW_SOLVER [ROUNDS [SWEEPS]]"""

import pathlib
import statistics
import sys
import tempfile
import time

from pairs import plumb, ratio_text, tree_cpu_seconds

LIMITS = {"default rate": 1.02, "10 kHz": 1.05}
OPTIONS = {"default rate": (), "10 kHz": ("--rate", "10000", "--budget", "100"), "without samples": ("--without", "sample")}


def main():
    solver = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    bare = [solver, sys.argv[3] if len(sys.argv) > 3 else "2400"]
    with tempfile.TemporaryDirectory() as folder:
        variants = {"bare": bare}
        for name, options in OPTIONS.items():
            variants[name] = [plumb(), "run", "-q", "--no-report", "--force", *options, "-o", str(pathlib.Path(folder) / "run"),
                              "--", *bare]
        cpu, wall = {name: [] for name in variants}, {name: [] for name in variants}
        tree_cpu_seconds(bare)  # warm caches; not counted
        for number in range(rounds):
            for name in list(variants) if number % 2 == 0 else reversed(variants):
                begin = time.perf_counter()
                cpu[name].append(tree_cpu_seconds(variants[name])[1])
                wall[name].append(time.perf_counter() - begin)
        print(f"{' '.join(bare)}: bare {statistics.median(cpu['bare']):.2f} s of CPU time, {rounds} rounds")
        for name in OPTIONS:
            limit = LIMITS.get(name)
            median = statistics.median(one / other for one, other in zip(cpu[name], cpu["bare"]))
            print(f"  {name:<16} CPU time x {ratio_text(cpu[name], cpu['bare'])}, wall time x "
                  f"{ratio_text(wall[name], wall['bare'])}"
                  + (f"; wanted: {limit}{'' if median <= limit else '  MISSED'}" if limit else ""))


if __name__ == "__main__":
    main()
