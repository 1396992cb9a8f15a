"""What `plumb run` costs on ordinary programs, in CPU time, beside what its report says it cost.

Counted is the CPU time of everything that was started, until all of it has ended: the program with what was done in it,
and the recorder from its own start to its end. `record` is with --no-report; `print` is what reading the record, finding
names and printing the report take on top, which is no part of the run. `account` is the own cost that the report states,
divided by the extra CPU time measured with --no-report: 1 when both agree. What is wanted: at most 1.02 from 5 s of CPU
time on and 1.01 from 60 s on; below, 40 ms that grow to the 100 ms of 5 s; 5 ms for each further short process; the account
within a third. The last column names what is missed.

Usage: bench_run_cost.py [--rounds N] [--with counters] [PROGRAM..]     (a part of a name chooses the programs that have
it; what runs for a minute must be named)
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import tempfile

from ordinary_programs import all_programs, missing_programs, ordinary_programs, write_inputs
from pairs import plumb, seconds_of


class Measured:
    """Paired CPU seconds of one program: bare, recorded, recorded with a report; and the report's own account."""

    def __init__(self):
        self.bare, self.recorded, self.reported, self.stated = [], [], [], []

    def extra_ms(self):
        return 1000 * statistics.median(one - two for one, two in zip(self.recorded, self.bare))

    def missed(self, processes):
        bare = statistics.median(self.bare)
        ratio = statistics.median(one / two for one, two in zip(self.recorded, self.bare))
        most_ms = bare * (10 if bare >= 60 else 20) if bare >= 5 else 40 + 12 * bare + 5 * (processes - 1)
        account = 1000 * statistics.median(self.stated) / self.extra_ms() if self.extra_ms() > 0 else 0
        words = [f"{ratio:.3f}" if bare >= 5 else f"{self.extra_ms():.0f} ms"] if self.extra_ms() > most_ms else []
        return words + (["account"] if not 2 / 3 <= account <= 4 / 3 else [])

    def row(self, name, processes):
        ratios = [one / two if two else float("nan") for one, two in zip(self.recorded, self.bare)]
        report_ms = 1000 * statistics.median(one - two for one, two in zip(self.reported, self.recorded))
        stated_ms = 1000 * statistics.median(self.stated)
        account = stated_ms / self.extra_ms() if self.extra_ms() > 0 else float("nan")
        return (f"{name:<22}{statistics.median(self.bare):9.3f}{statistics.median(ratios):9.3f}{min(ratios):8.3f}"
                f"{max(ratios):8.3f}{self.extra_ms():11.1f}{report_ms:10.1f}{stated_ms:11.1f}{account:9.2f}"
                f"  {', '.join(self.missed(processes)) or '-'}")


def stated_seconds(run):
    report = subprocess.run([plumb(), "report", "--format", "json", str(run)], check=True, capture_output=True)
    return json.loads(report.stdout)["run"]["own_cost"]["seconds"]


def measure(command, rounds, work, options):
    measured = Measured()
    seconds_of(command)  # warm caches; not counted
    for number in range(rounds):
        runs = [work / "recorded", work / "reported"]
        variants = [(measured.bare, command),
                    (measured.recorded, [plumb(), "run", *options, "--no-report", "-o", str(runs[0]), "--"] + command),
                    (measured.reported, [plumb(), "run", *options, "-o", str(runs[1]), "--"] + command)]
        for times, variant in variants if number % 2 == 0 else reversed(variants):
            times.append(seconds_of(variant)[1])
        measured.stated.append(stated_seconds(runs[0]))
        for run in runs:
            shutil.rmtree(run)
    return measured


def rounds_for(seconds):
    """Short programs are lost in what the machine does besides, but take no time to repeat."""
    return 25 if seconds < 0.5 else 9 if seconds < 3 else 5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, help="instead of 5 to 25, more for the shorter programs")
    parser.add_argument("--with", dest="extra", help="of plumb run, as counters")
    parser.add_argument("programs", nargs="*")
    arguments = parser.parse_args()
    print(f"{'program':<22}{'bare s':>9}{'record':>9}{'min':>8}{'max':>8}{'record ms':>11}{'print ms':>10}"
          f"{'stated ms':>11}{'account':>9}  missed")
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        write_inputs(work)
        for name in missing_programs(work):
            print(f"{name:<22} skipped: not installed")
        chosen = ordinary_programs(work)
        if arguments.programs:
            chosen = {name: command for name, command in all_programs(work).items()
                      if name not in missing_programs(work) and any(part in name for part in arguments.programs)}
        for name, command in chosen.items():
            rounds = arguments.rounds or rounds_for(seconds_of(command)[0])
            measured = measure(command, rounds, work, ["--with", arguments.extra] if arguments.extra else [])
            processes = {"sh, 200 x /bin/true": 201, "make -j2": 20}.get(name, 1)
            print(measured.row(name, processes), flush=True)
            if name.startswith("sh, 200"):
                print(f"{'  each of the 200':<22}{'':34}{measured.extra_ms() / 200:11.2f}")


if __name__ == "__main__":
    main()
