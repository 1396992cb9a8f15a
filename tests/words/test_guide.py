#!/usr/bin/env python3
"""The guide is whole: test_guide.py SOURCE_ROOT [LOWDOWN]

Every diagnosis is named on a page that the index links to, all links lead somewhere, every folder of examples/ is a page with
the same sections, README.md has no paragraph of more than five lines, and each page becomes HTML and a manual page.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SECTIONS = ["How plumb finds it", "What plumb reports", "What to do", "How it is checked"]
MOST_LINES = 5


def paragraphs(text):
    """Paragraphs of a Markdown text, without code, tables, lists' items counted one by one."""
    found, lines = [], []
    for line in re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M).split("\n") + [""]:
        if not line.strip() or re.match(r"\s*([-*|#<]|\d+\. )", line):
            if lines:
                found.append(lines)
            lines = [line] if re.match(r"\s*([-*]|\d+\. )", line) else []
        else:
            lines.append(line)
    return found


def broken_links(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)
    return [f"{page}: no {target}" for target in re.findall(r"\]\(([^)#]+)", text)
            if "://" not in target and not (page.parent / target).exists()]


def conversions(root, page, lowdown, scratch):
    """What is wrong with the page as HTML and as a manual page."""
    found, generator = [], root / "examples" / "guide.py"
    for form in ("html", "man"):
        output = scratch / f"page.{form}"
        subprocess.run([sys.executable, generator, form, lowdown, page, output], check=True)
        text = output.read_text(encoding="utf-8")
        if form == "html":
            found += [f"{page}: its HTML links to {target}" for target in re.findall(r'href="([^"#]+)', text)
                      if "://" not in target and not re.fullmatch(r"[a-z-]+\.html", target)]
        elif shutil.which("groff"):
            done = subprocess.run(["groff", "-man", "-t", "-Tutf8", "-K", "utf8", "-ww", "-rLL=100n", output],
                                  capture_output=True, text=True)
            found += [f"{page}: {line}" for line in done.stderr.splitlines() if "cannot adjust" not in line]
            if "\nNAME\n" not in re.sub("\x1b\\[[0-9;]*m|.\b", "", done.stdout):
                found.append(f"{page}: the manual page has no NAME")
    return found


def main():
    root, lowdown = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else ""
    examples, wrong = root / "examples", []
    index = (examples / "README.md").read_text(encoding="utf-8")
    pages = [examples / "README.md"]
    for folder in sorted(path for path in examples.iterdir() if path.is_dir() and (path / "meson.build").exists()):
        page = folder / "README.md"
        pages.append(page)
        if f"({folder.name}/README.md)" not in index:
            wrong.append(f"examples/README.md does not link to {folder.name}")
        headings = re.findall(r"^## (.*)$", page.read_text(encoding="utf-8"), flags=re.M)
        wrong += [f"{page}: no section {name!r}" for name in SECTIONS if name not in headings]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    for name in re.findall(r"^X\(\w+, (\w+),", (root / "analyzer/diagnoses/registry.def").read_text(), flags=re.M):
        if f"`{name.replace('_', '-')}`" not in text:
            wrong.append(f"no page of the guide names {name.replace('_', '-')}")
    for page in pages + [root / "README.md"]:
        wrong += broken_links(page)
    wrong += [f"README.md: a paragraph of {len(lines)} lines: {lines[0]}" for lines in
              paragraphs((root / "README.md").read_text(encoding="utf-8")) if len(lines) > MOST_LINES]
    if lowdown:
        with tempfile.TemporaryDirectory() as scratch:
            for page in pages:
                wrong += conversions(root, page, lowdown, pathlib.Path(scratch))
    else:
        print("SKIP: the pages as HTML and as manual pages, because lowdown is not installed")
    print("\n".join(wrong))
    print(f"{len(pages)} pages")
    sys.exit(1 if wrong else 0 if lowdown else SKIPPED)


if __name__ == "__main__":
    main()
