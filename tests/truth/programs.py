"""Makes the programs of the corpus and says how each is started."""

import os
import pathlib
import shlex
import shutil
import subprocess

COMPILERS = {".c": ["cc"], ".cpp": ["c++"], ".f90": ["gfortran"], ".F90": ["gfortran"]}
MPI_COMPILERS = {".c": "mpicc", ".cpp": "mpicxx", ".f90": "mpif90", ".F90": "mpif90"}
CLANG = {".c": ["clang", "clang-14"], ".cpp": ["clang++", "clang++-14"]} # the first that is installed
OTHER_COMPILERS = {".rs": ["rustc", "-C", "opt-level=2", "-g"], ".go": ["go", "build"]}
INTERPRETERS = {".py": "/usr/bin/python3", ".sh": "sh", ".pl": "perl"}
FLAGS = ["-O2", "-g"]
LIBRARIES = ["-pthread"]
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "btl", "self,vader"], "mpich": ["mpirun.mpich"]}
# Set for every program, so that the same is measured whoever runs the corpus.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "LC_ALL": "C", "GIT_CONFIG_NOSYSTEM": "1"}


class Unavailable(Exception):
    """What the case needs is not on this machine."""


def _no_clang():
    raise Unavailable("clang is not installed")


def _compiler(case):
    suffix = pathlib.Path(case.source).suffix
    if case.clang:
        return [next((name for name in CLANG[suffix] if shutil.which(name)), None) or _no_clang()]
    compiler = [f"{MPI_COMPILERS[suffix]}.{case.mpi}"] if case.mpi else {**COMPILERS, **OTHER_COMPILERS}[suffix]
    if not shutil.which(compiler[0]):
        raise Unavailable(f"{compiler[0]} is not installed")
    return compiler


class Program:
    """One twin of a case: command() and environment() start it in `scratch`."""

    def __init__(self, case, cured, build):
        self.case, self.cured = case, cured
        self.scratch = build / case.name
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.check_needs()
        self.path = self._make() if case.source else None
        self._prepare()

    def check_needs(self):
        case = self.case
        if len(os.sched_getaffinity(0)) < case.cpus:
            raise Unavailable(f"needs {case.cpus} CPUs")
        for program in [*case.needs, *(LAUNCHERS[case.mpi][:1] if case.mpi else [])]:
            if not shutil.which(program):
                raise Unavailable(f"{program} is not installed")

    def _make(self):
        source = self.case.source_path
        if source.suffix in INTERPRETERS:
            return source
        if source.suffix == ".java":
            if not shutil.which("javac"):
                raise Unavailable("javac is not installed")
            subprocess.run(["javac", "-d", str(self.scratch), str(source)], check=True)
            return source
        program = self.scratch / (source.stem + ("-cured" if self.cured else ""))
        if source.suffix in OTHER_COMPILERS:
            command = [*_compiler(self.case), "-o", str(program), *self.case.flags, str(source)]
        else:
            command = [*_compiler(self.case), *FLAGS, *(["-DCURED"] if self.cured else []), str(source), "-o", str(program),
                       *self.case.flags, *LIBRARIES]
        if source.suffix == ".F90":
            command[1:1] = ["-J", str(self.scratch)]
        record = program.with_suffix(".made")
        newest = max(file.stat().st_mtime for file in source.parent.iterdir())
        if not program.exists() or not record.exists() or record.read_text() != shlex.join(command) or \
                program.stat().st_mtime < newest:
            done = subprocess.run(command, cwd=source.parent, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{shlex.join(command)}\n{done.stderr}")
            record.write_text(shlex.join(command))
        return program

    def _prepare(self):
        done = self.scratch / "prepared"
        if self.case.prepare and (not done.exists() or done.read_text() != self.case.prepare):
            subprocess.run(["sh", "-ec", self._filled(self.case.prepare)], cwd=self.scratch, check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, env=self.environment())
            done.write_text(self.case.prepare)

    def _filled(self, text):
        program = ""
        if self.path:
            interpreter = INTERPRETERS.get(self.path.suffix)
            program = shlex.join(([interpreter] if interpreter else []) + [str(self.path)])
            if self.path.suffix == ".java": # the class has the file's name
                program = shlex.join(["java", "-cp", str(self.scratch), self.path.stem])
        for name, value in {"program": program, "folder": str(self.case.folder), "scratch": str(self.scratch)}.items():
            text = text.replace("{" + name + "}", value)
        return text

    def command(self):
        text = self._filled(self.case.command)
        if self.case.mpi:
            return [*LAUNCHERS[self.case.mpi], "-n", str(self.case.ranks), *shlex.split(text)]
        # A plain command is started as it is: a shell around it would be one more process in the record.
        return ["sh", "-c", text] if set(text) & set("|&;<>()$`*?\n") else shlex.split(text)

    def environment(self):
        environment = {**os.environ, **ENVIRONMENT}
        if self.cured:
            environment["CURED"] = "1"
        return environment
