"""The sweep of case D on this machine: what plumb finds in it, and its measured penalty beside plumb's estimate.

2^19 real*8 in Fortran and in C, 4 bytes off, 500 sweeps, -O0, -O1 and -O3. The measured penalty of an element is the median over
pairs of runs beside each other of what the program itself printed (CPU time), unaligned minus aligned.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PLUMB, PROGRAMS = os.environ["PLUMB"], pathlib.Path(os.environ["PLUMB_PROGRAMS"])
ELEMENTS, PAIRS = 2**19, 5
SWEEPS = int(os.environ.get("PLUMB_BENCH_SWEEPS", "500"))


def nanoseconds(program, off):
    done = subprocess.run([program, str(off), str(SWEEPS)], capture_output=True, text=True, check=True)
    return float(done.stdout.rsplit(":", 1)[1])


def seen(program, mode):
    """The lines of the sweep that plumb lists, heaviest first, and the run's evidence about the trap."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([PLUMB, "run", "-q", "--no-report", f"--align={mode}", "-o", f"{scratch}/run", "--", program, "4",
                        str(SWEEPS)], stdout=subprocess.DEVNULL, check=True)
        report = json.loads(subprocess.run([PLUMB, "report", f"{scratch}/run", "--format", "json"], capture_output=True,
                                           check=True).stdout)
    return [access for access in report["accesses"] if pathlib.Path(access["file"]).stem == "align_sweep"]


def row_of(access):
    trapped, sampled, cost = access.get("trapped"), access.get("sampled"), access.get("cost")
    kind = access["access"]
    words = "vector " if kind["vector"] else ""
    words += "/".join(name for name in ("load", "store") if kind[name])
    text = f"    line {access['line']:>3}: {kind['bytes']:>2}-byte {words:<18}"
    if trapped:
        text += f" {'' if trapped['exact'] else 'at least '}{trapped['count']:,} ({trapped['line_crossings']:,} line, " \
                f"{trapped['page_crossings']:,} page)"
    if sampled:
        text += f" [{sampled['samples']} samples, {sampled['line_crossings']} cross lines]"
    if cost:
        text += f" {cost['cpu_seconds'] * 1e9 / (ELEMENTS * SWEEPS):.3f} ns an element, {cost['how']}"
    return text


for language, prefix in (("Fortran", "align_sweep_"), ("C", "align_sweep_c_")):
    for level in ("O0", "O1", "O3"):
        program = str(PROGRAMS / (prefix + level))
        if not os.path.exists(program):
            print(f"\n{language}: no compiler")
            break
        pairs = [(nanoseconds(program, 0), nanoseconds(program, 4)) for _ in range(PAIRS)]
        aligned = statistics.median(pair[0] for pair in pairs)
        penalties = [unaligned - on_boundary for on_boundary, unaligned in pairs]
        print(f"\n{language} -{level}: {aligned:.3f} ns an element aligned, measured penalty "
              f"{statistics.median(penalties):+.3f} ns ({min(penalties):+.3f} to {max(penalties):+.3f}, {PAIRS} pairs); "
              f"{ELEMENTS * SWEEPS:,} loads and as many stores")
        for mode in ("find", "exact"):
            print(f"  --align={mode}")
            for access in seen(program, mode):
                print(row_of(access))
        sys.stdout.flush()
