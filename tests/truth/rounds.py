"""One round of a case: both twins bare and under plumb, one after another, and what was said against what is true."""

import dataclasses
import json
import os
import shutil
import statistics
import subprocess
import time

from corpus import SEVERITIES

TIME_LIMIT_S = 120
BOUND_SLACK = 0.05  # of the run: what two runs of one program differ by


@dataclasses.dataclass
class Round:
    bare_s: float
    cured_s: float | None = None
    found: dict | None = None  # the finding that is right
    line: str = "-"            # "first": the finding names the marked line first; "among"; "no"; "-": no line is marked
    instead: list = dataclasses.field(default_factory=list)     # what was found in the planted program besides
    accusations: list = dataclasses.field(default_factory=list) # above info, of the innocent or cured program


def _run(command, program):
    begin = time.perf_counter()
    done = subprocess.run(command, cwd=program.scratch, env=program.environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=TIME_LIMIT_S)
    elapsed = time.perf_counter() - begin
    if done.returncode:
        raise RuntimeError(f"{command} ended with {done.returncode}\n{done.stderr.decode(errors='replace')[-2000:]}")
    return elapsed


def _findings(plumb, program, keep):
    """Of one run under plumb, from its JSON report."""
    directory = program.scratch / ("run-cured" if program.cured else "run")
    shutil.rmtree(directory, ignore_errors=True)
    _run([plumb, "run", "--no-report", "-o", str(directory), *program.case.options, "--", *program.command()], program)
    report = subprocess.run([plumb, "report", str(directory), "--format", "json"], capture_output=True, text=True, check=True,
                            timeout=TIME_LIMIT_S)
    if not keep:
        shutil.rmtree(directory, ignore_errors=True)
    return [finding for finding in json.loads(report.stdout)["findings"] if not _is_of_the_machine(finding)]


# Most of these programs spend their time in loops that gcc leaves scalar at -O2, or packs for any processor: the findings are true of
# them, and not what they are about. test_scalar_loops.py judges them, on loops of its own, innocent ones among them.
TRUE_OF_ALL = ("scalar-loop", "narrow-vectors")


def _is_above_info(finding):
    return SEVERITIES.index(finding["severity"]) > 0


def _is_of_the_machine(finding):
    """That programs outside the run take its CPUs is true on a busy machine, and says nothing about the program."""
    return finding["id"] == "cpu-oversubscribed" and "other programs" in finding["title"].lower()


def short(finding):
    """ "medium heap-bound 12 % at lists.cpp:31" """
    where = finding["where"][0] if finding.get("where") else {}
    place = f" at {os.path.basename(where['file'])}:{where['line']}" if where.get("line") else ""
    return f"{finding['severity']} {finding['id']} {finding['cost'].get('fraction') or 0:.0%}{place}"


def _accusations(findings, before=""):
    return [before + short(finding) for finding in findings if _is_above_info(finding) and finding["id"] not in TRUE_OF_ALL]


def _line_of(finding, marked):
    if not marked:
        return "-"
    places = [(os.path.basename(where.get("file") or ""), where.get("line")) for where in finding.get("where", [])]
    return "first" if places[:1] and places[0] in marked else "among" if marked.intersection(places) else "no"


def _judge(case, findings, result):
    """The best of the findings that are right: by its line, then by its cost."""
    marked = case.marked_lines()
    order = ["no", "-", "among", "first"]
    right = [finding for finding in findings if finding["id"] in case.finding and
             SEVERITIES.index(finding["severity"]) >= SEVERITIES.index(case.least)]
    if right:
        result.found = max(right, key=lambda finding: (order.index(_line_of(finding, marked)),
                                                       finding["cost"].get("fraction") or 0))
        result.line = _line_of(result.found, marked)
    result.instead = [short(finding) for finding in findings
                      if _is_above_info(finding) and finding["id"] not in [*case.finding, *case.also, *TRUE_OF_ALL]]


def run_round(case, plumb, planted, cured, number, keep=False):
    """`cured` is None for an innocent. Who goes first alternates, so that a drift of the machine favours neither side."""
    if cured is None:
        result = Round(bare_s=_run(planted.command(), planted))
        result.accusations = _accusations(_findings(plumb, planted, keep))
        return result
    times = {}
    for program in (planted, cured) if number % 2 == 0 else (cured, planted):
        times[program] = _run(program.command(), program)
    result = Round(bare_s=times[planted], cured_s=times[cured])
    _judge(case, _findings(plumb, planted, keep), result)
    result.accusations = _accusations(_findings(plumb, cured, keep), "cured: ")
    return result


@dataclasses.dataclass
class Outcome:
    """A case over all its rounds."""
    case: object
    rounds: list
    skipped: str = ""

    def found(self):
        return sum(one.found is not None and one.line != "no" for one in self.rounds)

    def saved(self):
        """Share of the planted program's time that the cure saves: median of the pairs."""
        return statistics.median(1 - one.cured_s / one.bare_s for one in self.rounds)

    def reported(self):
        """Median of the cost in the rounds that found it; None when none did."""
        costs = [one.found["cost"].get("fraction") or 0 for one in self.rounds if one.found]
        return statistics.median(costs) if costs else None

    def cost_error(self):
        """Relative error of the reported share, by rounds, so that each cost is compared with the difference of its round."""
        if not self.case.cost:
            return None
        errors = [abs((one.found["cost"].get("fraction") or 0) / (1 - one.cured_s / one.bare_s) - 1)
                  for one in self.rounds if one.found and one.cured_s < one.bare_s]
        return statistics.median(errors) if errors else None

    def broken_bounds(self):
        """Where a gain was called a bound and the cure saves more, or less than is certain; each round's in words."""
        words = []
        for one in self.rounds:
            if not one.found or not self.case.cost:
                continue
            saved, gain = 1 - one.cured_s / one.bare_s, one.found["gain"]
            if gain["kind"] == "upper-bound" and saved > gain["fraction"] + BOUND_SLACK:
                words.append(f"up to {gain['fraction']:.0%}, saved {saved:.0%}")
            at_least = gain.get("at_least_fraction", 0) # of none nothing is certain: the cure may still not cost time
            if saved < at_least - BOUND_SLACK:
                words.append(f"at least {at_least:.0%}, saved {saved:.0%}")
        return words

    def accusations(self):
        return [accusation for one in self.rounds for accusation in one.accusations]
