"""Prints the headers that declare the functions of each MPI library that is installed here, one a line."""
import os
import shlex
import shutil
import subprocess

headers = []
for compiler in ("mpicc.openmpi", "mpicc.mpich", "mpicc"):
    if not shutil.which(compiler):
        continue
    # Open MPI's wrapper says --showme, MPICH's -show.
    for option in ("--showme:compile", "-show"):
        shown = subprocess.run([compiler, option], capture_output=True, text=True)
        if shown.returncode == 0:
            break
    folders = [word[2:] for word in shlex.split(shown.stdout) if word.startswith("-I")] + ["/usr/include"]
    for name in ("mpi.h", "mpi_proto.h", "mpio.h"):
        for folder in folders:
            path = os.path.realpath(os.path.join(folder, name))
            if os.path.exists(path):
                if path not in headers:
                    headers.append(path)
                break
print("\n".join(headers))
