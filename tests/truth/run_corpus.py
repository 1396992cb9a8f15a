#!/usr/bin/env python3
"""Runs plumb on programs whose truth is known and prints what it found, missed, mispriced and wrongly accused.

  run_corpus.py --build BUILD [--only NAME,..] [--rounds N] [--quick] [--check] [--keep] [--list]

Each planted program runs bare, beside its cured twin: the difference is what the defect costs. Then both run under
`plumb run`. The table compares, in the same round, what is reported with what the cure saves. Innocent programs and
cured twins must get no finding above info. corpus.py says how a case is written.
"""

import argparse
import collections
import fnmatch
import os
import pathlib
import statistics
import sys

import corpus
from programs import Program, Unavailable
from rounds import Outcome, run_round

SKIPPED = 77  # of meson


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, help="build folder; default: that of $PLUMB")
    parser.add_argument("--only", default="*", help="names or patterns of cases, or folders, separated by commas")
    parser.add_argument("--rounds", type=int, default=3, help="of each case (3)")
    parser.add_argument("--quick", action="store_true", help="only the subset of the test suite")
    parser.add_argument("--check", action="store_true", help="fail if a planted defect is missed or a program is accused")
    parser.add_argument("--keep", action="store_true", help="keep the run directories below BUILD/truth")
    parser.add_argument("--list", action="store_true", help="name the cases and end")
    return parser.parse_args()


def is_wanted(case, patterns):
    return any(fnmatch.fnmatch(case.name, pattern) or case.folder.name == pattern for pattern in patterns.split(","))


def row_of(outcome):
    case = outcome.case
    if outcome.skipped:
        return f"{case.name:<28} skipped: {outcome.skipped}"
    count = len(outcome.rounds)
    accused = "; ".join(sorted(set(outcome.accusations()))) or "-"
    bare = statistics.median(one.bare_s for one in outcome.rounds)
    if not case.planted:
        return f"{case.name:<28} {bare:6.2f} s   {accused}"
    lines = "/".join(one.line for one in outcome.rounds)
    reported, error = outcome.reported(), outcome.cost_error()
    instead = "; ".join(sorted({other for one in outcome.rounds for other in one.instead}))
    return (f"{case.name:<28} {bare:6.2f} s  {outcome.found()}/{count}  {lines:<18} {outcome.saved():6.0%} "
            f"{'-' if reported is None else f'{reported:.0%}':>8} {'-' if error is None else f'{error:.0%}':>6}  {accused}"
            + (f"\n{'':<30}besides: {instead}" if instead else "")
            + "".join(f"\n{'':<30}bound broken: {words}" for words in outcome.broken_bounds()))


def summary(outcomes):
    """(text, whether everything was right)"""
    done = [outcome for outcome in outcomes if not outcome.skipped]
    planted = [outcome for outcome in done if outcome.case.planted]
    innocent = [outcome for outcome in done if not outcome.case.planted]
    looks = sum(len(outcome.rounds) for outcome in planted)
    found = sum(outcome.found() for outcome in planted)
    errors = [error for outcome in planted if (error := outcome.cost_error()) is not None]
    accused = collections.Counter(outcome.case.name for outcome in done if outcome.accusations())
    clean_looks = sum(len(outcome.rounds) for outcome in done)
    lines = [f"{len(planted)} planted, {len(innocent)} innocent, {len(outcomes) - len(done)} skipped"]
    if planted:
        lines.append(f"recall {found} of {looks} = {found / looks:.0%}")
    if errors:
        lines.append(f"cost error: median {statistics.median(errors):.0%}, mean {statistics.mean(errors):.0%}, within 20 % in "
                     f"{sum(error <= 0.2 for error in errors)} of {len(errors)}")
    broken = sum(len(outcome.broken_bounds()) for outcome in planted)
    if planted:
        lines.append(f"bounds of gains broken by more than 5 points of the run: {broken} of {found}")
    false_rounds = sum(bool(one.accusations) for outcome in done for one in outcome.rounds)
    lines.append(f"false accusations: in {false_rounds} of {clean_looks} runs of innocent and cured programs"
                 + (": " + ", ".join(sorted(accused)) if accused else ""))
    return "\n".join(lines), found == looks and not accused


def main():
    chosen = options()
    cases = [case for case in corpus.load() if is_wanted(case, chosen.only) and (case.quick or not chosen.quick)]
    if chosen.list:
        for case in cases:
            print(f"{case.folder.name}/{case.name}: {', '.join(case.finding) or 'innocent'}")
        return 0
    if chosen.build:
        plumb, build = chosen.build.resolve() / "analyzer" / "plumb", chosen.build.resolve()
    else:
        plumb = pathlib.Path(os.environ["PLUMB"])
        build = plumb.parent.parent
    print(f"{'case':<28} {'bare':>8}  found {'line':<18} {'saved':>6} {'reported':>8} {'error':>6}  false accusations")
    outcomes = []
    for case in cases:
        try:
            planted = Program(case, False, build / "truth")
            cured = Program(case, True, build / "truth") if case.planted else None
            rounds = [run_round(case, str(plumb), planted, cured, number, chosen.keep) for number in range(chosen.rounds)]
            outcomes.append(Outcome(case, rounds))
        except Unavailable as reason:
            outcomes.append(Outcome(case, [], str(reason)))
        print(row_of(outcomes[-1]), flush=True)
    text, right = summary(outcomes)
    print("\n" + text)
    if all(outcome.skipped for outcome in outcomes):
        return SKIPPED
    return 1 if chosen.check and not right else 0


if __name__ == "__main__":
    sys.exit(main())
