"""What the alignment trap costs, and how soon it finds: in pairs of runs beside each other, medians (minimum to maximum).

usage: bench_align.py BENCH_ALIGN [find|exact|peers ...]; $PLUMB is the plumb under test. PLUMB_BENCH_ROUNDS: pairs (7).
Loops are timed by the program itself in CPU time of its thread, which contains all that the trap does in it; other jobs
of a busy machine disturb wall times far more. Nothing is asserted but that the counts are the known numbers.
"""

import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from pairs import plumb, ratio_text, tree_cpu_seconds

ROUNDS = int(os.environ.get("PLUMB_BENCH_ROUNDS", "7"))
SOURCES = pathlib.Path(__file__).resolve().parent.parent / "programs"
LOOP_SECONDS = 3


def records(run, *types):
    """All records of these types in a run directory, each with its type, as `plumb dump` prints them."""
    dumped = subprocess.run([plumb(), "dump", run, "--format", "json", "--only", ",".join(types)], capture_output=True,
                            text=True, check=True).stdout
    return [json.loads(line) for line in dumped.splitlines() if line.startswith("{")]


class Loop:
    """One run of bench_align, bare or under plumb: its own times, CPU time of all processes, and what was recorded."""

    def __init__(self, program, arguments, align=None):
        with tempfile.TemporaryDirectory() as scratch:
            run = f"{scratch}/run"
            wrapper = [plumb(), "run", "-q", "--no-report", f"--align={align}", "-o", run, "--"] if align else []
            done, self.tree_cpu = tree_cpu_seconds(wrapper + [program] + [str(word) for word in arguments])
            self.begin_ns, self.wall_ns, self.cpu_ns = (int(word) for word in done.split())
            self.counts = self.totals = self.sites = self.evidence = []
            if align:
                seen = records(run, "AlignCount", "AlignTotals", "AlignSite", "Evidence")
                self.counts = [record for record in seen if record["type"] == "AlignCount"]
                self.totals = [record for record in seen if record["type"] == "AlignTotals"]
                self.sites = [record for record in seen if record["type"] == "AlignSite"]
                self.evidence = [f"{record['source_text']}: {record.get('why_text', '')}" for record in seen
                                 if record["type"] == "Evidence" and record["source_text"].startswith("alignment")]

    def hits(self):
        """Of the site that was hit most: the loop's load."""
        by_site = {}
        for count in self.counts:
            by_site[count["site"]] = by_site.get(count["site"], 0) + count["hits"]
        return max(by_site.values(), default=0)

    def of_totals(self, field):
        return sum(totals[field] for totals in self.totals)

    def first_seen_ns(self):
        """Of the first site, after the loop began; None: nothing was found."""
        return min((site["time_ns"] for site in self.sites if site["time_ns"] >= self.begin_ns), default=None)


def alternate(variants, rounds):
    """Runs {name: function} side by side, the order turned round every time; {name: [results by round]}."""
    results = {name: [] for name in variants}
    for number in range(rounds):
        for name in list(variants) if number % 2 == 0 else reversed(variants):
            results[name].append(variants[name]())
    return results


def spins_for(program, nanoseconds):
    """The steps of work that keep a round of the loop this long on this machine, now."""
    loop = Loop(program, (0, 100_000, 1000))
    return round(nanoseconds / (loop.cpu_ns / 100_000) * 1000)


def find_section(program):
    spins = spins_for(program, 1000)
    rounds = LOOP_SECONDS * 1_000_000
    for title, off in (("one million unaligned loads a second", 1), ("no unaligned access at all", 0)):
        arguments = (off, rounds, spins)
        seen = alternate({"bare": lambda: Loop(program, arguments), "off": lambda: Loop(program, arguments, "off"),
                          "find": lambda: Loop(program, arguments, "find")}, ROUNDS)
        print(f"\n{title}: {statistics.median(loop.cpu_ns for loop in seen['bare']) / 1e9:.2f} s of CPU bare, "
              f"{ROUNDS} pairs")
        print(f"  {'':<34}{'CPU of the loop':>26}{'wall of the loop':>26}{'CPU of all processes':>26}")
        for name, above, below in (("plumb run --align=off : bare", "off", "bare"),
                                   ("plumb run --align=find : bare", "find", "bare"),
                                   ("--align=find : --align=off", "find", "off")):
            print(f"  {name:<34}" + "".join(
                f"{ratio_text([one for one in map(field, seen[above])], [one for one in map(field, seen[below])]):>26}"
                for field in (lambda loop: loop.cpu_ns, lambda loop: loop.wall_ns, lambda loop: loop.tree_cpu)))
        found = seen["find"]
        hits = [loop.hits() for loop in found]
        print(f"  hits counted {min(hits):,} to {max(hits):,} of {rounds if off else 0:,}; own estimate of the time in traps "
              f"{max(loop.of_totals('trap_ns') / loop.cpu_ns for loop in found):.3%} at most")
        first = [loop.first_seen_ns() for loop in found]
        if off and None not in first:
            print(f"  found {min(f - l.begin_ns for f, l in zip(first, found)) / 1e6:.3f} to "
                  f"{max(f - l.begin_ns for f, l in zip(first, found)) / 1e6:.3f} ms after the loop began")
        elif off:
            print(f"  NOT FOUND in {first.count(None)} of {ROUNDS} runs: {found[0].evidence}")
        sys.stdout.flush()


def exact_section(program):
    print(f"\n--align=exact, {ROUNDS} pairs: CPU nanoseconds of a hit, over bare")
    for title, rounds, generated in (("trapped (generated code, never rewritten)", 200_000, ("generated",)),
                                     ("rewritten", 20_000_000, ())):
        arguments = (1, rounds, 0) + generated
        variants = {"bare": lambda: Loop(program, arguments), "exact": lambda: Loop(program, arguments, "exact")}
        if generated:
            variants["floor"] = lambda: Loop(program + "-floor", (1, rounds, 0))
        seen = alternate(variants, ROUNDS)
        costs = [(exact.cpu_ns - bare.cpu_ns) / rounds for bare, exact in zip(seen["bare"], seen["exact"])]
        counts = {loop.hits() for loop in seen["exact"]}
        rewritten = [loop.of_totals("rewritten") for loop in seen["exact"]]
        print(f"  {title:<44} {statistics.median(costs):9.1f} ({min(costs):.1f} to {max(costs):.1f}); {rounds:,} hits, "
              f"counted {'all' if counts == {rounds} else sorted(counts)}, without a signal "
              f"{min(rewritten):,} to {max(rewritten):,}")
        if generated:
            floor = [loop.cpu_ns / rounds for loop in seen["floor"]]
            print(f"  {'a bare SIGBUS and back, for comparison':<44} {statistics.median(floor):9.1f} ({min(floor):.1f} to "
                  f"{max(floor):.1f}); a trapped hit takes {ratio_text(costs, floor)} of that")
        if counts != {rounds} or bool(generated) != (max(rewritten) == 0):
            for line in seen["exact"][-1].evidence:
                print(f"      {line}")
        sys.stdout.flush()
        if counts != {rounds}:
            sys.exit("hits were lost or invented")


def sweep_ns(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(done.stdout.rsplit(":", 1)[1])


def peers_section(_):
    """The C sweep of case D, -O1: two unaligned accesses an element, time of an element by each tool over bare."""
    compiler = shutil.which("gcc")
    if not compiler:
        print("\npeers: no gcc")
        return
    with tempfile.TemporaryDirectory() as folder:
        def build(name, *options):
            target = f"{folder}/{name}"
            subprocess.run([compiler, "-O1", "-g", *options, str(SOURCES / "align_sweep.c"), "-o", target], check=True)
            return target

        plain = build("plain")
        number = [0]

        def under_plumb(mode):
            number[0] += 1
            return [plumb(), "run", "-q", "--no-report", f"--align={mode}", "-o", f"{folder}/run{number[0]}", "--"]

        # The sweeps of each: enough to be timed, and no more than a minute.
        table = {"plumb run --align=find": (lambda: under_plumb("find") + [plain], 200),
                 "plumb run --align=exact": (lambda: under_plumb("exact") + [plain], 20)}
        try:
            checked = build("checked", "-fsanitize=alignment", "-fsanitize-recover=alignment")
            table["gcc -fsanitize=alignment (rebuilt)"] = (lambda: [checked], 20)
        except subprocess.CalledProcessError:
            print("gcc -fsanitize=alignment: libubsan is not installed")
        for name, options, sweeps in (("none", (), 10), ("memcheck", (), 5), ("lackey", (), 2),
                                      ("lackey", ("--trace-mem=yes",), 1)):
            if shutil.which("valgrind"):
                command = ["valgrind", "-q", f"--tool={name}", *options, plain]
                table[" ".join(("valgrind", f"--tool={name}", *options))] = (lambda command=command: command, sweeps)
        if not shutil.which("valgrind"):
            print("valgrind: not installed")
        print("DynamoRIO: " + ("left out: drrun runs no single tool by itself" if shutil.which("drrun") else
                               "not installed (Debian has no package)"))
        rounds = min(ROUNDS, 5)
        print(f"\nthe unaligned sweep (C, -O1, 2^19 real*8, 4 bytes off), {rounds} pairs")
        print(f"  {'':<40}{'over bare':>28}{'ns an access':>16}")
        for name, (command, sweeps) in table.items():
            seen = alternate({"bare": lambda: sweep_ns([plain, "4", str(sweeps)]),
                              "tool": lambda: sweep_ns(command() + ["4", str(sweeps)])}, rounds)
            extra = statistics.median(tool - bare for tool, bare in zip(seen["tool"], seen["bare"]))
            print(f"  {name:<40}{ratio_text(seen['tool'], seen['bare']):>28}{extra / 2:>16.2f}")
            sys.stdout.flush()


SECTIONS = {"find": find_section, "exact": exact_section, "peers": peers_section}
program = sys.argv[1]
for name in sys.argv[2:] or SECTIONS:
    SECTIONS[name](program)
