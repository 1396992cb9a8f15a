#!/usr/bin/env python3
"""plumb repeat --versus and plumb compare: how often a change of one line is found, and how often one is seen where there is none.

Sets of ten pairs of runs. The program's work is two thirds on one line, which does so many per mille of its work.
Goals: a change of 3 % of the run found in 10 pairs; of 0 % not found in 20 sets. The samples of a loop of two lines fall on either
by chance, so that its function shows a change sooner than its line.
`bench_compare.py [SETS [PAIRS]]`
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from pairs import plumb

CHANGED_FUNCTION = "scaled"
CHANGED_LINE = "scaled at scaled_work.c"
MILLION_ROUNDS = 400


def compared(program, permille, pairs):
    with tempfile.TemporaryDirectory() as folder:
        command = [plumb(), "repeat", "-n", str(pairs), "-o", pathlib.Path(folder) / "set", "--format", "json", "--versus",
                   f"{program} {permille} {MILLION_ROUNDS}", "--", program, "1000", str(MILLION_ROUNDS)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["comparison"]


def main():
    sets, pairs = (int(sys.argv[i]) if len(sys.argv) > i else default for i, default in ((1, 20), (2, 10)))
    program = pathlib.Path(os.environ["PLUMB_PROGRAMS"]) / "scaled_work"
    print(f"  {'change of the line':<20} {'figure':<6} {'changed in':>12} {'median ratio':>13} {'half of the interval':>21} "
          f"{'on its line':>12} {'its function':>13}")
    for permille in (1000, 1045, 1150):
        documents = [compared(program, permille, pairs) for _ in range(sets if permille == 1000 else max(1, sets // 2))]
        for figure in ("wall", "cpu"):
            seen = [one[figure] for one in documents]
            half = statistics.median((one["ratio_95"][1] - one["ratio_95"][0]) / 2 for one in seen)
            on_line = sum(one["lines"][0]["has_changed"] and one["lines"][0]["name"].startswith(CHANGED_LINE) for one in documents)
            in_function = sum(one["functions"][0]["has_changed"] and one["functions"][0]["name"] == CHANGED_FUNCTION for one in documents)
            print(f"  {(permille - 1000) / 1000:<20.1%} {figure:<6} {sum(one['has_changed'] for one in seen):5} of {len(seen):3} "
                  f"{statistics.median(one['ratio'] for one in seen):13.3f} {half:21.3f} {on_line:5} of {len(seen):3} "
                  f"{in_function:6} of {len(seen):3}", flush=True)


if __name__ == "__main__":
    main()
