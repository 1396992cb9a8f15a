"""Processes that need more memory than the node they are packed on has, and the same placed as they should be."""

import pathlib
import shlex

from guest_test import GuestTest, example

NEEDY, SHELL = example("memory-spacing/forecast"), "/bin/dash"  # a shell that is linked like other programs
ADVISED = "--pin=spread:2 --bind-memory"
SOURCES = pathlib.Path(__file__).resolve().parents[2]


def side_by_side(mib, seconds=1.5):
    """A command: two processes that need so much memory each."""
    return (SHELL, "-c", f"{NEEDY} {seconds} {mib} & {NEEDY} {seconds} {mib}; wait")


def record_line(run, options, command):
    return (f"$PLUMB run -q --no-report {options} -o /results/{run} -- {shlex.join(map(str, command))} "
            f">/results/{run}.out\n")


def marked_line(path, mark):
    """The number of the only line that holds a mark."""
    found = [number for number, line in enumerate((SOURCES / path).read_text().splitlines(), start=1) if mark in line]
    if len(found) != 1:
        raise ValueError(f"{path}: {len(found)} lines with {mark}")
    return found[0]


class NeedyTest(GuestTest):
    def needy_finding(self, run):
        found = self.findings(self.report(self.results.folder / run), "memory-spacing")
        self.assertEqual(len(found), 1, self.results.text(f"{run}.out"))
        return found[0]

    def away_share(self, run):
        """The programs' own word on how much of their memory is not on the node of the thread that uses it."""
        away = total = 0
        for line in self.results.text(f"{run}.out").splitlines():
            node, *pages = map(int, line.split())
            total += sum(pages)
            away += sum(pages) - pages[node]
        return away / total

    def check_packed(self, run, needed_mib):
        """The finding of processes that are packed on node 0: what they need, how far they have to be apart."""
        self.assertGreater(self.away_share(run), 0.05)  # else this kernel had room
        finding = self.needy_finding(run)
        self.assertEqual(finding["subject"]["name"], 0)
        self.assertEqual(finding["where"][0]["line"], marked_line("examples/memory-spacing/forecast.h", "/* use */"))
        evidence = finding["evidence"]
        self.assertAlmostEqual(evidence["needed_bytes"] / 2**20, needed_mib, delta=0.1 * needed_mib)
        self.assertLess(evidence["room_bytes"], evidence["needed_bytes"])
        self.assertEqual(evidence["spacing_cpu_count"], 2, evidence)
        return finding

    def check_roomy(self, run):
        """Nothing is said, and all is local."""
        self.assertLess(self.away_share(run), 0.02)
        report = self.report(self.results.folder / run)
        self.assertEqual([finding["title"] for finding in report["findings"] if finding["id"].startswith("memory-")], [])
