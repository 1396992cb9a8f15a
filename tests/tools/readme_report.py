#!/usr/bin/env python3
"""The report in README.md is what plumb prints: readme_report.py [--update] README PLUMB FLOW_SOLVER

Runs the example that README.md shows and compares the shape of what comes out: the lines of the head, the title of the
finding and each part of it, with figures and numbers of CPUs left open. --update writes the report of a run into README.md;
make the machine quiet for it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FINDING = "cpu-oversubscribed"
SKIPPED = 77
BLOCK = re.compile(r"(<!-- written by tests/tools/readme_report.py -->\n```\n)(.*?)(^```\n)", re.S | re.M)
COMMAND = ["./stacked.sh", "./flow_solver", "4", "600"]
TITLE = "are pinned so that they share"


def first_page(plumb, solver):
    """Of what `plumb run` prints for the example: the head, the time account and the finding."""
    with tempfile.TemporaryDirectory() as scratch:
        example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "stacked-copies" / "stacked.sh"
        shutil.copy(example, scratch)
        shutil.copy(solver, pathlib.Path(scratch) / "flow_solver")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PLUMB")}
        done = subprocess.run([plumb, "run", "-o", "run", "--", *COMMAND], cwd=scratch, capture_output=True, text=True,
                              env={**environment, "LC_ALL": "C.UTF-8"}, timeout=120)
        if done.returncode != 0:
            sys.exit(f"plumb run ended with {done.returncode}: {done.stderr}")
    # Head, time account and the finding; other programs on the machine are findings of their own.
    blocks = [block for block in done.stderr.strip("\n").split("\n\n") if block.strip()]
    shown = blocks[:1] + [block for block in blocks if block.startswith("Time of the run")] + \
        [block for block in blocks if f"[{FINDING}]" in block and TITLE in " ".join(block.split())]
    return "\n\n".join("\n".join(line.rstrip() for line in block.split("\n")) for block in shown).strip("\n") + "\n"


def without_figures(text):
    text = re.sub(r"\d[\d.,]*( (ns|us|ms|s|%))?", "#", text)
    text = re.sub(r"CPUs? #((, | and |-)#)*", "CPU #", text).replace("CPU # have", "CPU # has")
    return " ".join(text.split())


def shape(page):
    """[(part, words without figures)] of the head and of the finding."""
    blocks = [block.split("\n") for block in page.strip("\n").split("\n\n")]
    parts = [("head", without_figures(line)) for line in blocks[0]]
    parts += [("account", without_figures(block[0])) for block in blocks if block[0].startswith("Time of the run")]
    for block in blocks:
        if f"[{FINDING}]" not in "".join(block):
            continue
        label, words = "title", ""
        for line in block + ["    end   "]:
            match = re.match(r" {4}(\w+) +(.*)", line)
            if match:
                # Which lines were sampled most differs from run to run, and small figures may be left out of `seen`.
                # Other programs on the CPUs change the severity and what the title says of the other CPUs.
                if label == "title":
                    words = re.sub(r"^ ?(HIGH|MEDIUM|LOW) | while .*", "", words)
                if label not in ("where", "seen", "what"):
                    parts.append((label, without_figures(words)))
                label, words = match.groups()
            else:
                words += " " + line.strip()
    return parts


def main():
    update = "--update" in sys.argv
    readme, plumb, solver = (argument for argument in sys.argv[1:] if argument != "--update")
    if len(os.sched_getaffinity(0)) < 2:
        print("one CPU: nothing can be stacked")
        sys.exit(SKIPPED)
    readme, plumb = pathlib.Path(readme), pathlib.Path(plumb).resolve()
    text = readme.read_text(encoding="utf-8")
    page = first_page(plumb, solver)
    if update:
        if TITLE not in " ".join(page.split()):
            sys.exit("this run has no such finding: it is not written into README.md\n" + page)
        readme.write_text(BLOCK.sub(lambda match: match.group(1) + page + match.group(3), text), encoding="utf-8")
        return
    shown = shape(BLOCK.search(text).group(2))
    printed = shape(page)
    if shown != printed:
        print(page)
        for part in [f"README.md alone: {part}" for part in shown if part not in printed] + \
                    [f"printed alone:   {part}" for part in printed if part not in shown]:
            print(part)
        sys.exit("README.md shows another report than plumb prints: run this script with --update")
    print(f"{len(shown)} parts of the report are as README.md shows them")


if __name__ == "__main__":
    main()
