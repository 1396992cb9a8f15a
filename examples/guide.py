#!/usr/bin/env python3
"""One page of the user's guide from Markdown, as HTML or as a manual page: guide.py html|man LOWDOWN PAGE.md OUTPUT

The pages are README.md of examples/ and of its folders; the former becomes index.html and plumb-guide(7), the page of folder
late-rank late-rank.html and plumb-late-rank(7). Links between pages follow; links to other files of the repository become
plain text, because they are not installed.
"""
import pathlib
import re
import subprocess
import sys

STYLE = """body { max-width: 50em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif; color: #222; background: #fff }
pre { background: #f4f4f4; padding: .7em 1em; overflow-x: auto; font-size: 85% } code { background: #f4f4f4 }
table { border-collapse: collapse } th, td { border: 1px solid #ccc; padding: .2em .6em; text-align: left; vertical-align: top }
@media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } a { color: #8bf }
  pre, code { background: #242424 } th, td { border-color: #555 } }"""
LINK = re.compile(r"\[([^\]]+)\]\(([^)]+)\)")


def page_of(path):
    """The page of the guide that this file is: "guide" for the index, else its folder's name."""
    folder = path.resolve().parent
    return "guide" if folder == pathlib.Path(__file__).resolve().parent else folder.name


def with_links(text, source, form):
    def link(match):
        words, target = match.groups()
        if "://" in target:
            return match.group(0) if form == "html" else f"{words} ({target})"
        path, _, part = target.partition("#")
        file = (source.parent / path).resolve() if path else source.resolve()
        if not path and form == "html":
            return match.group(0)
        if file.is_dir():
            file /= "README.md"
        examples = pathlib.Path(__file__).resolve().parent
        if file.name != "README.md" or not file.is_relative_to(examples):
            return words
        page = page_of(file)
        if form == "man":
            return f"{words} (**plumb-{page}**(7))"
        name = "index" if page == "guide" else page
        return f"[{words}]({name}.html{'#' + part if part else ''})"

    # Code blocks stay as they are.
    parts = re.split(r"(^```.*?^```$)", text, flags=re.S | re.M)
    return "".join(part if i % 2 else LINK.sub(link, part) for i, part in enumerate(parts))


def converted(lowdown, form, text, options):
    return subprocess.run([lowdown, "-s", "-t" + form, *options], input=text, capture_output=True, text=True, check=True).stdout


def main():
    form, lowdown, source, output = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    page = page_of(source)
    text = with_links(source.read_text(encoding="utf-8"), source, form)
    title = re.match(r"# (.*)\n", text).group(1)
    if form == "html":
        result = converted(lowdown, "html", text, ["-M", "title=plumb: " + title])
        back = "" if page == "guide" else '<p><a href="index.html">The guide to plumb</a></p>\n'
        result = result.replace("</head>", f"<style>\n{STYLE}\n</style>\n</head>").replace("<body>", "<body>\n" + back)
    else:
        body = re.sub(r"^##(#*) ", r"#\1 ", text.split("\n", 1)[1], flags=re.M)
        text = f"# NAME\n\nplumb-{page} - {title}\n\n# DESCRIPTION\n{body}"
        result = "'\\\" t\n" + converted(lowdown, "man", text, [
            "-M", f"title=PLUMB-{page.upper()}", "-M", "section=7", "-M", "source=plumbline", "-M", "volume=The guide to plumb"])
    output.write_text(result, encoding="utf-8")


if __name__ == "__main__":
    main()
