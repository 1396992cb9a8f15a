#!/usr/bin/env python3
"""Reports of synthetic runs say what they said before: test_golden.py [--update] RENDER_REPORT [SCHEMA]

--update accepts what comes out now: look at the difference before committing it.
"""
import difflib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
GOLDENS = [("stacked", "text"), ("stacked", "ascii"), ("stacked", "colour"), ("stacked", "json"), ("clean", "text"),
           ("clean", "json"), ("killed", "text"), ("hostile", "ascii"), ("hostile", "json"), ("unaligned", "text"), ("unaligned", "json"),
           ("unaligned", "sites"), ("mpi", "text"), ("mpi", "ascii"), ("mpi", "json"), ("mpi-wide", "text"), ("memory", "text"), ("memory", "json"),
           ("simulation", "text"), ("simulation", "json"), ("simulation-quiet", "text"), ("simulation-halo", "ascii"), ("simulation-recorded", "text"), ("simulation-recorded", "json"), ("simulation-hostile", "ascii"),
           ("comparison", "text"), ("comparison", "json"), ("comparison-few", "text"), ("comparison-few", "json"), ("comparison-hostile", "ascii"), ("repetition", "text"),
           *((kind, "page") for kind in ("stacked", "clean", "killed", "hostile", "mpi", "memory", "unaligned"))]


def render(program, kind, form):
    return subprocess.run([program, kind, form], capture_output=True, check=True).stdout


def rounded(value):
    """JSON without the last digits of floating point, which differ between compilers."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return [rounded(item) for item in value] if isinstance(value, list) else value


def normalised(form, data):
    text = data.decode("utf-8")  # must be valid, whatever the names were
    if form != "json":
        return text
    document = json.loads(text, parse_constant=lambda constant: sys.exit(f"not a finite number: {constant}"))
    return json.dumps(rounded(document), indent=1, ensure_ascii=True) + "\n"


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    update, failed = "--update" in sys.argv, False
    for kind, form in GOLDENS:
        golden = HERE / f"{kind}.{form}"
        text = normalised(form, render(arguments[0], kind, form))
        if update:
            golden.write_text(text, encoding="utf-8")
        elif text != golden.read_text(encoding="utf-8"):
            failed = True
            sys.stdout.writelines(difflib.unified_diff(golden.read_text(encoding="utf-8").splitlines(True),
                                                       text.splitlines(True), str(golden), "now"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
