#!/usr/bin/env python3
"""The report in README.md is what plumb prints: readme_report.py [--update] README PLUMB FLOW_SOLVER

Runs the example that README.md shows and compares the shape of what comes out: the lines of the head, the finding and the
commands at the end, with figures and numbers of CPUs left open. --update writes the report of a run into README.md;
make the machine quiet for it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = 77
BLOCK = re.compile(r"(<!-- written by tests/tools/readme_report.py -->\n```\n)(.*?)(^```\n)", re.S | re.M)
COMMAND = ["./stacked.sh", "./flow_solver", "4", "600"]
TITLE = "are pinned so that they share"


def entries(block):
    """Of "What would help most": each finding's lines, without its number."""
    found = []
    for line in block.split("\n")[1:]:
        if re.match(r"\d+ ", line):
            found.append([])
        if found:
            found[-1].append(line)
    return ["\n".join(lines) for lines in found]


def first_page(plumb, solver):
    """What `plumb run` prints for the example, without findings about other programs on the machine."""
    with tempfile.TemporaryDirectory() as scratch:
        example = ROOT / "examples" / "stacked-copies" / "stacked.sh"
        shutil.copy(example, scratch)
        shutil.copy(solver, pathlib.Path(scratch) / "flow_solver")
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PLUMB")}
        done = subprocess.run([plumb, "run", "-o", "run", "--", *COMMAND], cwd=scratch, capture_output=True, text=True,
                              env={**environment, "LC_ALL": "C.UTF-8"}, timeout=120)
        if done.returncode != 0:
            sys.exit(f"plumb run ended with {done.returncode}: {done.stderr}")
        # A compiler's cache may have put the path of another clone into the debug info.
        printed = re.sub(r"/[^ ]*/(?=examples/)", "", done.stderr.replace(f"{scratch}/", ""))
    blocks = ["\n".join(line.rstrip() for line in block.split("\n"))
              for block in printed.strip("\n").split("\n\n") if block.strip()]
    for number, block in enumerate(blocks):
        if block.startswith("What would help most"):
            own = [entry for entry in entries(block) if TITLE in " ".join(entry.split())]
            blocks[number] = "\n".join([block.split("\n")[0], *(re.sub(r"^\d+", "1", entry) for entry in own)])
    return "\n\n".join(blocks) + "\n"


def without_figures(text):
    text = re.sub(r"\d[\d.,]*( (ns|us|ms|s|%))?", "#", text)
    text = re.sub(r"CPUs? #((, | and |-)#)*", "CPU #", text).replace("CPU # have", "CPU # has")
    return " ".join(text.split())


def shape(page):
    """[(part, words without figures)] of what does not differ from run to run."""
    parts = []
    for number, block in enumerate(page.strip("\n").split("\n\n")):
        if number == 0:
            parts += [("head", without_figures(line)) for line in block.split("\n")]
        elif block.startswith("Time of the run"):
            parts.append(("account", without_figures(block.split("\n")[0])))
        elif block.startswith("What would help most"):
            # Other programs on the CPUs change the severity, the gain, and what the title says of the other CPUs.
            for entry in entries(block):
                words = without_figures(re.sub(r"^\d+ +(HIGH|MEDIUM|LOW) +((up to|about) [\d.]+ %)?", "", entry))
                parts.append(("finding", re.sub(r" while .*? use CPU #", "", words)))
        else:
            parts += [("foot", without_figures(line)) for line in block.split("\n") if line.startswith(("Details", "Charts"))]
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
