"""What it costs to watch threads that wait: paired runs with few switches a second and with many, and what a lock and an
OpenMP region take more; beside it, where it is installed, perf record with a clock of the same rate, and with the records of
switches, too.

usage: bench_waits.py PROGRAM. Wanted: at most 1.01 at 10,000 switches a second and 1.03 at 100,000; 2 ns on an uncontended
lock pair, 150 ns on a contended one and on a region a thread. Nothing is asserted.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile

from pairs import compare, plumb

SECONDS, ROUNDS = 3, 7
PERF_CLOCK = ["-e", "cpu-clock:u", "-c", "4149377"]  # of plumb's own samples


def ns_each(command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout.split()[0])


def handing_over(program, per_s):
    """The command that makes `per_s` switches a second for SECONDS, by this machine's speed now."""
    switch_ns = min(ns_each([program, "switches", "20000", "0"]) for _ in range(3))
    work_ns = min(ns_each([program, "switches", "1000", "100000"]) - switch_ns for _ in range(3)) / 100000
    rounds = max(0, round((1e9 / per_s - switch_ns) / work_ns))
    return [program, "switches", str(SECONDS * per_s), str(rounds)]


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        run = 0

        def under_plumb(command):
            nonlocal run
            run += 1
            return [plumb(), "run", "--no-report", "-o", f"{folder}/{run}", "--"] + command

        def under_perf(*options):
            return lambda command: ["perf", "record", "-q", "-B", "-N", "-o", f"{folder}/perf.data", *PERF_CLOCK, *options, "--"] + command

        tools = {"plumb run": under_plumb}
        if shutil.which("perf"):
            tools |= {"perf record": under_perf(), "perf record --switch-events": under_perf("--switch-events")}

        commands = {}
        for per_s in (10, 10_000, 100_000):
            commands[f"{per_s} switches/s"] = command = handing_over(program, per_s)
            compare(f"{1e9 / ns_each(command):,.0f} switches a second", command,
                    {"plumb run": lambda command=command: under_plumb(command)}, ROUNDS)
        del commands["10 switches/s"]
        for what, count in ("lock", 20_000_000), ("contended", 400_000), ("regions", 300_000):
            commands[what] = [program, what, str(count)]
        print(f"\n{'ns each, by the program itself':<50} {'bare':>8} {'more':>8} {'least':>8} {'most':>8}")
        for what, command in commands.items():
            bare, more = [], {name: [] for name in tools}
            for _ in range(ROUNDS):
                bare.append(ns_each(command))
                for name, tool in tools.items():
                    more[name].append(ns_each(tool(command)) - bare[-1])
            for name, values in more.items():
                print(f"{what + ', ' + name:<50} {statistics.median(bare):8.1f} {statistics.median(values):8.1f} "
                      f"{min(values):8.1f} {max(values):8.1f}", flush=True)


if __name__ == "__main__":
    main()
