"""Traffic of streaming loops against the program's own count, and bandwidth-saturated against what the program itself does with
one thread and with two: the truth is measured here, and where it scatters nothing is claimed."""

import glob
import json
import os
import pathlib
import statistics
import subprocess
import unittest

from plumb_test import PROGRAMS, PlumbTest

STREAMS = PROGRAMS / "streams"
FORTRAN = PROGRAMS / "streams_fortran"
SECONDS = "1.2"
TOLERANCE, FAR_OFF = 1.25, 1.5  # of traffic; a benchmark tells how near it comes
SCALES, FLAT = 1.4, 1.03  # what two threads move against what one does
FULL, GROWS = 0.85, 1.05  # where the diagnosis must not hesitate: the share of the roof, and what a second thread adds to that


def size(text):
    return int(text[:-1]) * {"K": 1 << 10, "M": 1 << 20}[text[-1]] if text[-1] in "KM" else int(text)


def cache_bytes():
    """All last caches together."""
    caches = {}
    for cpu in glob.glob("/sys/devices/system/cpu/cpu[0-9]*"):
        levels = [pathlib.Path(each) for each in glob.glob(cpu + "/cache/index*")
                  if pathlib.Path(each, "type").read_text().strip() != "Instruction"]
        if levels:
            last = max(levels, key=lambda each: int((each / "level").read_text()))
            caches[(last / "shared_cpu_list").read_text()] = size((last / "size").read_text().strip())
    return sum(caches.values())


def available_bytes():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable:"))


CACHES = cache_bytes()
ARRAYS = {"triad": 3, "chunks": 3, "backwards": 3, "stencil": 2, "nontemporal": 2, "sum": 1, "scale": 1}  # that a kernel uses


def mebibytes(arrays):
    """Of each array, so that together they are far beyond the caches."""
    return max(32, int(CACHES * 2.2 / arrays) >> 20)


class MemoryTraffic(PlumbTest):
    def setUp(self):
        super().setUp()
        if CACHES == 0:
            self.skipTest("the kernel does not report the caches here")
        if available_bytes() < 10 * CACHES + (1 << 30):
            self.skipTest("too little memory for arrays beyond the caches")

    def look(self, *command, options=(), **popen):
        """The report of a run, and what the program printed."""
        done = self.record(*command, options=("-q", "--no-report", "--force", "--budget", "10", *options), check=0, **popen)
        seen = self.report()
        for entry in seen["evidence"]:
            if entry["source"] in ("address-sampling", "perf-sampling", "memory-traffic") and entry["state"] == "missing":
                self.skipTest(f"no sampled addresses here: {entry['why']}")
        return seen, done.stdout

    def ratio(self, command, **popen):
        """What plumb says against what the program counted."""
        seen, said = self.look(*command, **popen)
        return seen["metrics"].get("memory_traffic", {"value": 0})["value"] / float(said.split()[1])

    def agrees(self, command, **popen):
        ratios = []
        for _ in range(5):
            ratios.append(self.ratio(command, **popen))
            if 1 / TOLERANCE <= statistics.median(ratios) <= TOLERANCE:
                return
        if max(ratios) > 1.5 * min(ratios) or os.getloadavg()[0] > 2 * os.cpu_count():
            self.skipTest(f"this machine is too busy to tell: {ratios}")
        # What else this machine does to dense samples is not known here; but the amount must be about right.
        self.assertTrue(1 / FAR_OFF <= statistics.median(ratios) <= FAR_OFF, f"{command}: told / counted {ratios}")
        self.skipTest(f"{command}: told / counted {ratios}")

    def test_traffic_is_what_the_program_counts(self):
        for kernel in "triad", "sum", "scale", "backwards", "stencil", "nontemporal":
            with self.subTest(kernel):
                self.agrees([STREAMS, kernel, "1", mebibytes(ARRAYS[kernel]), SECONDS])

    def test_traffic_of_two_threads(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU")
        for kernel in "triad", "chunks":
            with self.subTest(kernel):
                self.agrees([STREAMS, kernel, "2", mebibytes(ARRAYS[kernel]), SECONDS])

    @unittest.skipUnless(FORTRAN.exists(), "no Fortran compiler")
    def test_traffic_of_a_fortran_loop(self):
        self.agrees([FORTRAN, mebibytes(3), SECONDS], env={**os.environ, "OMP_NUM_THREADS": "1"})

    def bare(self, threads):
        return float(subprocess.run([STREAMS, "triad", str(threads), str(mebibytes(3)), "0.5"], check=True, capture_output=True,
                                    text=True).stdout.split()[0])

    def roof_growth(self):
        """What two threads moved against one in the timing after the last run; 0: it was not timed."""
        done = subprocess.run([os.environ["PLUMB"], "dump", str(self.run_directory), "--only", "BandwidthRoof", "--format", "json"],
                              capture_output=True, text=True, check=True)
        moved = {}
        for line in filter(None, done.stdout.splitlines()):
            record = json.loads(line)
            moved[record["threads"]] = record["bytes_per_s"]
        return moved[2] / moved[1] if moved.get(1) and 2 in moved else 0

    def test_saturation_is_what_a_second_thread_brings(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU")
        speed_ups = [self.bare(2) / self.bare(1) for _ in range(3)]
        runs, roofs = [], []
        for _ in range(3):
            runs.append(self.look(STREAMS, "triad", "2", mebibytes(3), "1.5")[0])
            roofs.append(self.roof_growth())
        speed_ups += [self.bare(2) / self.bare(1) for _ in range(2)]
        found = [self.findings(seen, "bandwidth-saturated", "info") for seen in runs]
        for findings in found:
            for finding in findings:
                self.assertEqual(finding["subject"]["name"].rsplit("/", 1)[-1].split(":")[0], "streams.c")
                self.assertEqual(finding["evidence"]["thread_count"], 2)
                self.assertEqual(finding["evidence"]["enough_thread_count"], 1)
                self.assertEqual(len(finding["evidence"]["arrays"]), 3)
        if min(speed_ups) >= SCALES:
            self.assertLessEqual(sum(map(bool, found)), 1, f"two threads move more than one: {speed_ups}")
        elif max(speed_ups) <= FLAT:
            shares = [seen["metrics"].get("memory_bandwidth_share", {"value": 0})["value"] for seen in runs]
            if min(shares) < FULL or max(roofs) > GROWS:
                self.skipTest(f"what is timed after the run is not the program: {shares} of the roof, which grew by {roofs}")
            self.assertGreaterEqual(sum(map(bool, found)), 2, f"two threads move no more than one: {speed_ups}")
        else:
            self.skipTest(f"a second thread brings neither much nor nothing here: {speed_ups}")

    def test_the_innocent_are_not_blamed(self):
        two = str(min(2, len(os.sched_getaffinity(0))))
        # What is said of a cache that others share is more than a program gets of it.
        small = str(min(4, max(1, (CACHES >> 20) // 16)))
        for command in ([STREAMS, "compute", two, "64", "0.8"], [STREAMS, "triad", two, small, "0.8"]):
            seen, _ = self.look(*command)
            self.assertEqual(self.findings(seen, "bandwidth-saturated", "info"), [], command)
            # The loops that fill the arrays may be seen (each line is read, then written), from a few samples only.
            told = seen["metrics"].get("memory_traffic", {"value": 0})["value"]
            self.assertLessEqual(told, FAR_OFF * 2 * 3 * int(command[3]) * 2**20, command)
        for kernel in "triad", "chase", "histogram", "stencil", "column_walk", "copy":
            seen, _ = self.look(PROGRAMS / "access_kernels", kernel, 500)
            self.assertEqual(self.findings(seen, "bandwidth-saturated", "info"), [], kernel)

    def test_it_can_be_left_out(self):
        seen, _ = self.look(STREAMS, "triad", "1", mebibytes(3), "0.6", options=("--without", "bandwidth"))
        self.assertNotIn("memory_bandwidth", seen["metrics"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
