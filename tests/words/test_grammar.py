#!/usr/bin/env python3
"""Grammar of what users read: test_grammar.py SOURCE_ROOT WORK_DIR

Markdown, manual pages and the string literals of analyzer/, preload/ and include/ go through Harper, which is fetched from the
npm registry into WORK_DIR in the version that grammar/package-lock.json pins. Without npm or the registry: skipped. Planted
mistakes show that the checker works.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from prose import is_sentence, prose
from test_words import PAGES, READ_BY_USERS, SKIPPED, SOURCES, files_of

HERE = pathlib.Path(__file__).resolve().parent
# Rules about spelling (hunspell does that), typography and preference, and those that take the field's terms for mistakes:
# "CPUs over all nodes", "a finding", "file system", "write-only", "halo exchange".
NOT_USED = ["SpellCheck", "SentenceCapitalization", "LongSentences", "Dashes", "OrthographicConsistency", "SplitWords",
            "OxfordComma", "UseEllipsisCharacter", "Spaces", "ExpandPerformance", "ExpandMemoryShorthands",
            "ExpandTimeShorthands", "ExpandConfiguration", "ExpandAlloc", "ExpandStandardInputAndOutput", "Overall",
            "NumericRangeEnDash", "MassNouns", "CompoundNouns", "QuantifierNumeralConflict", "MergeWords",
            "MissingPreposition", "Everyone", "DisjointPrefixes", "CommaFixes", "ToTwoToo", "ThatThan", "SingleBe",
            "RegularIrregulars", "ExpandControl", "ExpandMinimum", "MissingTo", "CondenseAllThe", "CapitalizePersonalPronouns", "HelloGreeting"]
PLANTED = ["The ranks waits for the the last of them.", "This is an test of a error, and it are not right."]


def pieces_of(root):
    found = []
    for name in files_of(root):
        path = root / name
        if path.suffix not in SOURCES + PAGES or HERE in path.parents:
            continue
        for line, kind, text in prose(path):
            if kind == "text" or kind == "string" and name.startswith(READ_BY_USERS) and is_sentence(text):
                # Code spans and placeholders stand for a name or a figure.
                text = re.sub(r"\{[^}]*\}", "12", re.sub(r"`[^`]*`", "NAME", text))
                found.append({"place": f"{name}:{line}", "text": " ".join(text.split())})
    return found


def checker_in(work):
    """Whether the checker is there: npm ci, once for each state of the lock file."""
    work.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", "lint.mjs"):
        shutil.copy(HERE / "grammar" / name, work)
    done = work / "installed-lock.json"
    if done.exists() and done.read_bytes() == (work / "package-lock.json").read_bytes():
        return True
    try:
        subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=work, check=True, timeout=240,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except (OSError, subprocess.SubprocessError) as error:
        print(f"the grammar checker could not be fetched: {error}")
        return False
    shutil.copy(work / "package-lock.json", done)
    return True


def complaints_about(pieces, work):
    done = subprocess.run(["node", "lint.mjs", *NOT_USED], cwd=work, input=json.dumps(pieces), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout.splitlines()


def main():
    root, work = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    if not shutil.which("npm") or not shutil.which("node") or not checker_in(work):
        print("SKIP: no grammar checker")
        sys.exit(SKIPPED)
    planted = complaints_about([{"place": str(number), "text": text} for number, text in enumerate(PLANTED)], work)
    if len({line.split("\t")[0] for line in planted}) < len(PLANTED):
        sys.exit("the checker does not see planted mistakes: " + "; ".join(planted))
    pieces = pieces_of(root)
    complaints = complaints_about(pieces, work)
    print("\n".join(complaints))
    print(f"{len(pieces)} pieces of text, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
