"""What people read in this repository: prose(path) yields (line, kind, text) of one file.

kind is "string" (a literal of the C++ and C sources, adjacent literals joined), "comment" (neighbouring comment lines
joined) or "text" (a paragraph of Markdown or of a manual page, without its code).
"""
import re

ESCAPES = {"n": "\n", "t": " ", "\\": "\\", '"': '"', "'": "'", "0": " "}
TOKEN = re.compile(
    r'//(?P<line>[^\n]*)|/\*(?P<block>.*?)\*/|(?P<raw>R"(?P<mark>[^(\s]*)\((?P<rawtext>.*?)\)(?P=mark)")'
    r'''|"(?P<string>(?:\\.|[^"\\\n])*)"|(?P<digits>\b\d[\w']*)|'(?:\\.|[^'\\\n])+\''''
    r"|(?P<include>^[ \t]*#[ \t]*include[^\n]*)", re.S | re.M)


def unescape(text):
    text = re.sub(r"\\(?:x[0-9a-fA-F]+|[0-7]{2,3}|u[0-9a-fA-F]{4})", " ", text)
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match.group(1), " "), text)


def of_source(source):
    pieces = []  # [line, kind, text, end]: what follows with nothing but space between belongs to it
    for match in TOKEN.finditer(source):
        line, raw = source.count("\n", 0, match.start()) + 1, match.group("rawtext")
        if match.group("line") is not None or match.group("block") is not None:
            kind = "comment"
            text = match.group("line") if match.group("line") is not None else \
                re.sub(r"\n[ \t]*\*?", "\n", match.group("block"))
            text = text.lstrip("/!<").strip()
        elif raw is not None or match.group("string") is not None:
            kind, text = "string", raw if raw is not None else unescape(match.group("string"))
        else:
            continue
        last = pieces[-1] if pieces else None
        gap = source[last[3]:match.start()] if last else "x"
        # A comment beside code is a sentence of its own; below a comment alone on its line it goes on.
        if last and last[1] == kind and not gap.strip() and (kind == "string" or gap.count("\n") == 1):
            last[2] += ("\n" if kind == "comment" else "") + text
            last[3] = match.end()
        else:
            pieces.append([line, kind, text, match.end()])
    return [(line, kind, text) for line, kind, text, _ in pieces if text.strip()]


def of_markdown(source):
    """Paragraphs, headings, list items and table cells; without code blocks, code spans and link targets."""
    found, paragraph, start, fenced = [], [], 0, False
    for number, line in enumerate(source.split("\n") + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        elif fenced:
            continue
        bare = line.strip()
        table = bare.startswith("|")
        fresh = bare == "" or table or bare.startswith(("#", "- ", "* ")) or re.match(r"\d+\. ", bare)
        if fresh and paragraph:
            found.append((start, "text", "\n".join(paragraph)))
            paragraph = []
        if table:
            found += [(number, "text", cell.strip()) for cell in re.split(r"(?<!\\)\|", bare) if cell.strip(" -:")]
        elif bare:
            if not paragraph:
                start = number
            paragraph.append(re.sub(r"^(#+|[-*]|\d+\.)\s+", "", bare))
            if bare.startswith("#"):
                found.append((start, "text", paragraph.pop()))
    plain = [(line, kind, re.sub(r"\]\([^)]*\)", "]", re.sub(r"<[^>]*>", " ", text))) for line, kind, text in found]
    return [(line, kind, text.replace("[", "").replace("]", "").replace("**", "")) for line, kind, text in plain]


def of_manual(source):
    """The lines of a page in the man macros; a bold or italic word is a name, as a code span of Markdown is."""
    found = []
    for number, line in enumerate(source.split("\n"), 1):
        if line.startswith(("." + '\\"', ".TH", ".B", ".I", ".R", ".EX")):
            continue
        text = re.sub(r"^\.(SH|SS|TP|PP|IP)\b *", "", line)
        text = re.sub(r"\\f[BI](.*?)\\f[RP]", r"`\1`", text).replace("\\-", "-").replace("\\(aq", "'").replace("\\&", "")
        if text.strip() and not text.startswith("."):
            found.append((number, "text", text))
    return found


# What is not a word of a sentence: code spans, options, names with digits, underscores, dots, slashes, capitals inside.
NAMES = re.compile(r"`[^`]*`|\{[^}]*\}|%\w+|--?[\w-]+|\S*[\w)][/_=<>@#$|*~^\\:.,]+[\w({*-]\S*|\S*[/\\]\S*|\w*\d\w*|\b[A-Z]{2,}\w*\b"
                   r"|\b\w+[A-Z]\w*\b|\b[A-Z]\w*\(\)|\b\w+\(\)|#\w+")


def words_of(text):
    """The words of ordinary sentences in a piece of prose: names, options, paths and figures are none."""
    return re.findall(r"[A-Za-z]+(?:'[a-z]+)?", NAMES.sub(" ", text))


def is_sentence(text):
    """A string literal that a person reads: some words with blanks between, and no assembler, regular expression, HTML or JSON."""
    if re.search(r"%%|%\[|\[sp|%\d|\bdsb\b|\bv\d\.2d|\bj(mp|ne|nz)\b|\.cfi|\bmov[a-z]*\b.*%|\.globl|\x22schema\x22: |\\[sdwb]|<[a-z!/]|,@function", text):
        return False
    return len(re.findall(r"(?:^|\s)[A-Za-z]{2,}(?=[\s.,:;]|$)", text)) >= 2


def prose(path):
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return of_markdown(source)
    if path.suffix == ".1" or path.suffix == ".5":
        return of_manual(source)
    return of_source(source)
