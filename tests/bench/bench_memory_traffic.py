"""What plumb says of a loop's memory traffic against the program's own count, by kernel and number of threads: the median of
several runs, and the extremes. No time is asserted."""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

PLUMB = os.environ["PLUMB"]
STREAMS = pathlib.Path(os.environ["PLUMB_PROGRAMS"]) / "streams"
KERNELS = ["triad", "copy", "sum", "scale", "backwards", "stencil", "nontemporal", "library", "chunks"]


def main():
    mebibytes = sys.argv[1] if len(sys.argv) > 1 else "600"
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    cpus = len(os.sched_getaffinity(0))
    print(f"{'kernel':12} threads    program GB     plumb GB   plumb / program (least, most)   share of roof")
    for kernel in KERNELS:
        for threads in sorted({1, cpus}):
            ratios, counted, told, shares = [], [], [], []
            for _ in range(runs):
                with tempfile.TemporaryDirectory() as folder:
                    run = folder + "/run"
                    said = subprocess.run([PLUMB, "run", "-q", "--no-report", "-o", run, "--", STREAMS, kernel, str(threads),
                                           mebibytes, "1.5"], check=True, capture_output=True, text=True).stdout
                    metrics = json.loads(subprocess.run([PLUMB, "report", run, "--format", "json"], check=True,
                                                        capture_output=True, text=True).stdout)["metrics"]
                counted.append(float(said.split()[1]) * 1e-9)
                told.append(metrics.get("memory_traffic", {"value": 0})["value"] * 1e-9)
                shares.append(metrics.get("memory_bandwidth_share", {"value": 0})["value"])
                ratios.append(told[-1] / counted[-1])
            print(f"{kernel:12} {threads:7} {statistics.median(counted):13.2f} {statistics.median(told):12.2f} "
                  f"{statistics.median(ratios):10.2f} ({min(ratios):.2f}, {max(ratios):.2f}) "
                  f"{statistics.median(shares):23.2f}", flush=True)


main()
