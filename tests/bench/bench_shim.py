"""What the shim alone costs a process at its start and end, and a thread at its creation: microseconds, paired."""

import os
import shutil
import statistics
import subprocess
import tempfile
import time

SHIM = os.environ["PLUMB_SHIM"]
PROGRAMS = os.path.join(os.environ["PLUMB_PROGRAMS"], "shim")


def compare(title, command, times, per, unit):
    """Interleaved runs of `command` bare, with a dormant shim and recorded; prints the median differences."""
    run = tempfile.mkdtemp(prefix="plumb-bench-")
    environments = {
        "bare": dict(os.environ),
        "preloaded, not recording": {**os.environ, "LD_PRELOAD": SHIM},
        "recording threads": {**os.environ, "LD_PRELOAD": SHIM, "PLUMB_RUN": run, "PLUMB_COLLECTORS": "threads"},
        "recording all (default)": {**os.environ, "LD_PRELOAD": SHIM, "PLUMB_RUN": run},
    }
    seconds = {name: [] for name in environments}
    for _ in range(times):
        for name, environment in environments.items():
            begin = time.perf_counter()
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
            seconds[name].append(time.perf_counter() - begin)
        shutil.rmtree(run)
        os.mkdir(run, 0o700)
    shutil.rmtree(run)
    print(f"\n{title}: bare {statistics.median(seconds['bare']) * 1e6 / per:.1f} us a {unit}, {times} rounds")
    for name in environments:
        if name != "bare":
            extra = statistics.median(one - bare for one, bare in zip(seconds[name], seconds["bare"]))
            print(f"  {name:<28} {extra * 1e6 / per:+9.2f} us a {unit}")


compare("start and end of a process", [os.path.join(PROGRAMS, "name_often"), "0"], 300, 1, "process")
compare("creation and end of a thread", [os.path.join(PROGRAMS, "many_threads"), "4000"], 15, 4000, "thread")
