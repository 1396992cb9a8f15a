#!/usr/bin/env python3
"""Spelling, and the words of the style: test_words.py [--list] SOURCE_ROOT

Spelling (hunspell, British English, and the words of dictionary.txt) is checked in what users read: Markdown, manual pages,
and the string literals of analyzer/, preload/ and include/. The expressions of refused.txt are looked for there and in the
comments of all sources, in the golden reports as well. --list prints the unknown words alone, for dictionary.txt.
"""
import pathlib
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from prose import is_sentence, of_markdown, of_source, prose, words_of

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
READ_BY_USERS = ("analyzer/", "preload/", "include/")
SOURCES = (".cpp", ".h", ".c", ".def", ".ts")
PAGES = (".md", ".1")


def files_of(root):
    """The files of the project, whether or not this is a clone."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                            capture_output=True)
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else \
        [str(path.relative_to(root)) for folder in ("analyzer", "preload", "include", "examples", "tests")
         for path in (root / folder).rglob("*")] + ["README.md"]
    return sorted(name for name in names if name and (root / name).is_file() and "node_modules" not in name)


def refused_expressions():
    """[(for figures only, compiled, what to write)]"""
    found = []
    for line in (HERE / "refused.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            expression, instead = re.split(r"\s{2,}", line.strip(), maxsplit=1)
            figures = expression.startswith("figures: ")
            expression = expression.removeprefix("figures: ").replace(" ", r"\s+")
            found.append((figures, re.compile(expression, re.I), instead))
    return found


def refused_in(text, kind, refused):
    """(the words, what to write instead) for each expression that the text matches."""
    return [(" ".join(match.group(0).split()), instead) for figures, expression, instead in refused
            if figures <= (kind == "report") and (match := expression.search(text))]


def check_the_check(refused):
    """Planted words are found: in a comment over two lines, in joined literals, in Markdown and in a report."""
    comment, string = of_source('// The cost is\n// told twice.\nputs("what it "\n     "is told");')
    planted = [(comment[2], "comment"), (string[2], "string"), (of_markdown("```\ncode\n```\nleave it\naway\n")[0][2], "text"),
               ("cost 1e+02 s", "report")]
    for text, kind in planted:
        if not refused_in(text, kind, refused):
            sys.exit(f"the check does not see what was planted: {text!r}")
    if words_of("Use `mpirrun` or --bindd, see foo_barr.c: speling") != ["Use", "or", "see", "speling"]:
        sys.exit("names are taken for words, or words for names: " + str(words_of("Use `mpirrun` or --bindd, see foo_barr.c: speling")))
    if shutil.which("hunspell") and unknown_words(["speling", "colour"]) != {"speling"}:
        sys.exit("hunspell does not know British English: is hunspell-en-gb installed?")


def unknown_words(words):
    """Of these, what neither hunspell nor the project's dictionary knows."""
    own = {line.strip() for line in (HERE / "dictionary.txt").read_text().splitlines() if not line.startswith("#")}
    asked = sorted({word for word in words if word not in own and word.lower() not in own})
    done = subprocess.run(["hunspell", "-l", "-i", "utf-8", "-d", "en_GB"], input="\n".join(asked), capture_output=True,
                          text=True, check=True)
    unknown = set(done.stdout.split())
    return {word for word in asked if word in unknown}


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--list"]
    root = pathlib.Path(arguments[0]).resolve()
    complaints, places, sentences = [], {}, 0
    refused = refused_expressions()
    check_the_check(refused)
    for name in files_of(root):
        path = root / name
        if path.suffix in (".text", ".ascii", ".sites") and "golden" in name:
            pieces = [(number, "report", line) for number, line in enumerate(path.read_text().splitlines(), 1)]
        elif path.suffix in SOURCES + PAGES and path.parent != HERE:
            pieces = prose(path)
        else:
            continue
        for line, kind, text in pieces:
            if kind == "string" and not is_sentence(text):
                continue
            complaints += [f"{name}:{line}: {found!r}: write {instead}" for found, instead in refused_in(text, kind, refused)]
            if kind == "text" or kind == "string" and name.startswith(READ_BY_USERS):
                sentences += 1
                for word in words_of(text):
                    places.setdefault(word, f"{name}:{line}")
    if shutil.which("hunspell"):
        unknown = unknown_words(places)
        if "--list" in sys.argv:
            print("\n".join(f"{word}  {places[word]}" for word in sorted(unknown, key=str.lower)))
            return
        complaints += [f"{places[word]}: unknown word: {word}" for word in sorted(unknown)]
    print("\n".join(complaints))
    if not shutil.which("hunspell"):
        print("SKIP: spelling, because hunspell is not installed")
    print(f"{sentences} pieces of text, {len(places)} different words, {len(complaints)} complaints")
    sys.exit(1 if complaints else 0 if shutil.which("hunspell") else SKIPPED)


if __name__ == "__main__":
    main()
