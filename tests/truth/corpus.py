"""The corpus: which programs there are, what is planted in them, and where.

Every folder below tests/truth has a cases.toml with the tables

  [[planted]]   a program with one defect, and its cured twin
  [[innocent]]  a program without any; real ones are only a command

Keys of both:
  name        the case's name, unique in the corpus
  source      a file of this folder. C, C++ and Fortran are compiled by programs.py, with -DCURED for the cured twin.
              Scripts (.py, .sh, .pl) and Java classes, named as their files, run as they are, the cured twin with CURED=1 in its
              environment, and so do programs in Rust. Default: none.
  command     a shell command that runs it. {program} is the compiled program or the script, {folder} this folder,
              {scratch} a folder of the case's own, which is the working directory. Default: "{program}"
  prepare     a shell command that runs once in {scratch} and makes input files
  flags       more flags of the compiler; the default ones are in programs.py
  mpi         "openmpi" or "mpich": compiled by that library's compiler wrapper, and started by its launcher as {ranks} ranks
  ranks       how many; default 2
  clang       compiled by clang, and with LLVM's OpenMP runtime; only C and C++
  needs       programs without which the case is skipped
  cpus        the case is skipped on fewer CPUs; default 1
  options     of `plumb run`
  quick       belongs to the subset that the test suite runs

Keys of [[planted]]:
  finding     ids of findings, any of which is right
  from        the least severity that counts as found; default "low"
  mark        the word behind "planted:" in the source where the line to be named is marked; default: the first id. Several
              lines may be marked. "" where no line is to blame (a placement); the finding alone is then enough.
  cost        false: the cure does not save time (a leak), so no cost is compared
  also        ids that are true of the planted program, too
"""

import dataclasses
import pathlib
import re
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent
SEVERITIES = ["info", "low", "medium", "high"]
MARK = re.compile(r"planted:\s*([\w-]+)")


@dataclasses.dataclass
class Case:
    folder: pathlib.Path
    name: str
    planted: bool
    source: str = ""
    command: str = "{program}"
    prepare: str = ""
    flags: list = dataclasses.field(default_factory=list)
    mpi: str = ""
    ranks: int = 2
    clang: bool = False
    needs: list = dataclasses.field(default_factory=list)
    cpus: int = 1
    options: list = dataclasses.field(default_factory=list)
    quick: bool = False
    finding: list = dataclasses.field(default_factory=list)
    mark: str | None = None
    cost: bool = True
    also: list = dataclasses.field(default_factory=list)
    least: str = "low"

    @property
    def source_path(self):
        return self.folder / self.source

    def marked_lines(self):
        """{(file name, line)} that a finding should name; files that the source includes from its folder may bear marks, too."""
        mark = self.finding[0] if self.mark is None else self.mark
        if not self.source or not mark:
            return set()
        lines = set()
        for path in [self.source_path, *self._included()]:
            for number, text in enumerate(path.read_text().splitlines(), 1):
                if mark in MARK.findall(text):
                    lines.add((path.name, number))
        if not lines:
            raise ValueError(f"{self.name}: no line of {self.source} is marked 'planted: {mark}'")
        return lines

    def _included(self):
        included = re.findall(r'^\s*#?\s*include\s*["\']([^"\']+)["\']', self.source_path.read_text(), re.MULTILINE)
        return [self.folder / name for name in included if (self.folder / name).is_file()]


def _case(folder, planted, table):
    fields = dict(table)
    if "from" in fields:
        fields["least"] = fields.pop("from")
    case = Case(folder=folder, planted=planted, **fields)
    if planted and not case.finding:
        raise ValueError(f"{case.name}: says no finding")
    if planted and not case.source:
        raise ValueError(f"{case.name}: a planted program needs a source")
    if case.least not in SEVERITIES:
        raise ValueError(f"{case.name}: unknown severity {case.least!r}")
    if planted:
        case.marked_lines()
    return case


def load(root=FOLDER):
    """All cases, by folder and in the order of their files. Raises ValueError or TypeError for a table that is wrong."""
    cases = []
    for manifest in sorted(root.glob("*/cases.toml")):
        tables = tomllib.loads(manifest.read_text())
        if unknown := set(tables) - {"planted", "innocent"}:
            raise ValueError(f"{manifest}: unknown tables {sorted(unknown)}")
        for kind in ("planted", "innocent"):
            cases += [_case(manifest.parent, kind == "planted", table) for table in tables.get(kind, [])]
    names = [case.name for case in cases]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"case names used twice: {sorted(twice)}")
    return cases
