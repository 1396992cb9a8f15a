#!/usr/bin/env python3
"""plumb compare: sets of recorded runs, of which it is known what changed; limits; and what it says of input that cannot be meant."""

import json
import os
import shutil
import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, TREE, PlumbTest, breaches

RUNS = 10  # of which one may be held up, on either side
MAKE_MPI_RUN = os.environ["PLUMB_MAKE_MPI_RUN"]
CHANGED, MORE_WORK = "value * 6364136223846793005u + 1442695040888963407u;", "0x7fffffffffffffffu / (value >> 32 | 1) + (uint64_t)i;"
INSERTED = 3


def compare(*arguments):
    return subprocess.run([PLUMB, "compare", *map(str, arguments)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "100"})


class Compare(PlumbTest):
    def runs(self, name, seconds):
        folder = self.scratch / name
        folder.mkdir()
        for number in range(RUNS):
            self.run_directory = folder / f"run-{number}"
            self.record("sh", "-c", f"sleep {seconds + 0.005 * number}", options=["--no-report"], check=0)
        return folder

    def test_a_longer_program_is_longer_and_breaks_a_limit(self):
        base, longer = self.runs("base", 0.2), self.runs("longer", 0.4)
        done = compare(base, longer, "--format", "json")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        self.assertEqual((result["schema"], result["base_runs"], result["other_runs"]), ("plumb-comparison/1", RUNS, RUNS))
        self.assertEqual(breaches(result, "comparison"), [])
        self.assertTrue(result["wall"]["has_changed"], result["wall"])
        self.assertGreater(result["wall"]["ratio"], 1.3)
        broken = compare(base, longer, "--fail-if", "wall > +3%")
        self.assertEqual(broken.returncode, 1)
        self.assertIn("this limit is broken: wall > +3%", broken.stderr)
        self.assertIn("more", broken.stdout)
        self.assertEqual(compare(base, longer, "--fail-if", "wall > +900%").returncode, 0)
        same = json.loads(compare(base, *sorted(base.iterdir()), "--format", "json").stdout)
        self.assertFalse(same["wall"]["has_changed"], same["wall"])
        self.assertAlmostEqual(same["wall"]["ratio"], 1)

    def test_single_runs_get_figures_and_no_verdict(self):
        self.record("true", options=["--no-report"], check=0)
        done = compare(self.run_directory, self.run_directory)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("With so few runs", done.stdout)
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
        single = json.loads(compare(self.run_directory, self.run_directory, "--format", "json").stdout)
        self.assertEqual((single["is_known"], single["wall"]["ratio_95"], breaches(single, "comparison")), (False, None, []))
        self.assertNotEqual(breaches({**single, "wall": {**single["wall"], "ratio": 0}}, "comparison"), [])
        self.assertNotEqual(breaches({**single, "more": 1}, "comparison"), [])
        limited = compare(self.run_directory, self.run_directory, "--fail-if", "wall > 1%")
        self.assertEqual(limited.returncode, 125)
        self.assertIn("too few", limited.stderr)

    def test_what_cannot_be_meant_gets_a_sentence(self):
        (self.scratch / "empty").mkdir()
        pairs = self.scratch / "pairs"
        pairs.mkdir()
        for number in range(2):
            self.run_directory = pairs / str(number)
            self.record("true", options=["--no-report"], check=0)
        for arguments, says in ((["/nowhere", "/nowhere"], "No such file or directory"),
                                ([self.scratch / "empty", self.scratch / "empty"], "neither a run of plumb nor a folder with runs"),
                                ([self.scratch, self.scratch, "--fail-if", "wall"], "a figure and a change are needed"),
                                ([pairs, pairs, pairs, "--paired"], "each run of the base needs one beside it, and there are 2 and 4")):
            done = compare(*arguments)
            self.assertEqual((done.returncode, done.stdout), (125, ""))
            self.assertIn(says, done.stderr)

    def counts(self, folder, *arguments):
        """Two runs of heap_known, which allocates a known number of times."""
        for number in range(2):
            self.run_directory = self.scratch / folder / str(number)
            self.run_directory.parent.mkdir(exist_ok=True)
            self.record(PROGRAMS / "heap_known", *arguments, options=["--no-report", "--heap=full"], check=0)
        return self.scratch / folder

    def test_exact_counts_of_allocations_need_two_runs(self):
        base, more = self.counts("base", "pairs", "10000"), self.counts("more", "pairs", "20000")
        result = json.loads(compare(base, more, "--format", "json").stdout)
        self.assertEqual(breaches(result, "comparison"), [])
        self.assertTrue(result["allocations_are_exact"])
        changed = [one for one in result["allocations"] if one["calls"]["has_changed"]]
        self.assertEqual([(one["name"].split(" at ")[0], one["calls"]["base_median"], one["calls"]["other_median"]) for one in changed],
                         [("pairs", 10000, 20000)])
        self.assertEqual(changed[0]["bytes"]["more"], 1000000)
        self.assertIn("10,000 -> 20,000", compare(base, more).stdout)
        self.assertNotIn("->", compare(base, base).stdout)
        single = json.loads(compare(base / "0", more / "0", "--format", "json").stdout)
        self.assertEqual(single["allocations"][0]["calls"]["more"], 10000)
        self.assertFalse(any(one["calls"]["has_changed"] for one in single["allocations"]))

    def test_calls_of_mpi_are_compared_by_line(self):
        for name, collectives in ("base", 100), ("more", 200):
            for number in range(2):
                subprocess.run([MAKE_MPI_RUN, self.scratch / name / str(number), "--ranks", "4", "--ranks-per-node", "4", "--collectives",
                                str(collectives)], check=True, capture_output=True)
        result = json.loads(compare(self.scratch / "base", self.scratch / "more", "--format", "json").stdout)
        self.assertEqual(breaches(result, "comparison"), [])
        changed = {one["name"].split(" in ")[0]: one["calls"] for one in result["mpi_sites"] if one["calls"]["has_changed"]}
        self.assertIn("MPI_Allreduce", changed)
        self.assertEqual((changed["MPI_Allreduce"]["base_median"], changed["MPI_Allreduce"]["other_median"]), (400, 800))
        self.assertFalse([one for one in result["mpi_sites"] if "MPI_Init" in one["name"] and one["calls"]["has_changed"]])

    def test_campaigns_are_compared_by_their_place_in_the_network(self):
        network = self.scratch / "ring.json"
        network.write_text(json.dumps({"schema": "plumb-topology/1", "torus": {"dimensions": [{"size": 64}], "names": "node{index:05}"}}))
        sides = {"apart": (3, 4, 5, 6), "together": (1, 1, 1, 1)} # nodes of a ring of which only every so many are the job's
        for side, steps in sides.items():
            for number, step in enumerate(steps):
                subprocess.run([os.environ["PLUMB_MAKE_MPI_RUN"], "--ranks", "8", "--ranks-per-node", "1", "--collectives", "50", "--halo", "1000",
                                "--latency", str(2e-4 * step), "--seed", str(number), "--node-step", str(step), self.scratch / side / str(number)],
                               check=True, capture_output=True)
        both = self.scratch / "apart", self.scratch / "together"
        placements = json.loads(compare(*both, "--topology", network, "--format", "json").stdout)["placements"]
        self.assertEqual(placements["links"], "that a byte passes")
        # Seven of eight neighbours are a step apart, the first and the last 7 steps, or the other way round.
        links = [(14 * step + 2 * min(7 * step, 64 - 7 * step)) / 16 for step in sides["apart"]]
        for run, expected in zip(placements["runs"], links):
            self.assertAlmostEqual(run["links_of_bytes"], expected)
        self.assertAlmostEqual(placements["base"]["mean_links"], sum(links) / 4)
        self.assertAlmostEqual(placements["others"]["mean_links"], (14 + 2 * 7) / 16)
        self.assertTrue(placements["links_are_connected"])
        times = [run["wall_seconds"] for run in placements["runs"]]
        self.assertAlmostEqual(placements["base"]["mean_seconds"], sum(times[:4]) / 4)
        self.assertAlmostEqual(placements["saved_fraction"], 1 - sum(times[4:]) / sum(times[:4]))
        text = compare(*both, "--topology", network).stdout
        for part in "Place in the network", "links a byte passes", "Runs with more links took longer":
            self.assertIn(part, text)
        self.assertIn("Place in the network", compare(*both, "--topology", network, "--format", "html").stdout)
        few = compare(both[0] / "0", both[1] / "0", "--topology", network).stdout
        self.assertIn("takes 6 runs or more", " ".join(few.split()))

    def test_a_page_goes_into_a_file(self):
        self.record("true", options=["--no-report"], check=0)
        for form, begins in ("html", "<!doctype html>"), ("json", "{"), ("text", "base"):
            page = self.scratch / f"page.{form}"
            done = compare(self.run_directory, self.run_directory, "--format", form, "-o", page)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            self.assertTrue(page.read_text().lstrip().startswith(begins), form)
        done = compare(self.run_directory, self.run_directory, "-o", self.scratch / "nowhere" / "page")
        self.assertEqual(done.returncode, 125)
        self.assertIn("No such file or directory", done.stderr)


@unittest.skipUnless(shutil.which("gcc"), "no gcc")
class TwoBuilds(PlumbTest):
    """A program whose second build has lines inserted above its loops, and one that does more."""

    def setUp(self):
        super().setUp()
        source = (TREE / "tests" / "programs" / "scaled_work.c").read_text()
        self.assertIn(CHANGED, source)
        changed = source.replace(CHANGED, MORE_WORK).replace("__attribute__", "/* inserted */\n" * INSERTED + "__attribute__", 1)
        self.base, self.other = self.build("base", source), self.build("other", changed)
        self.changed_line = self.line_of(source, CHANGED)
        self.usual_line = self.line_of(source, "value >> 13")

    def line_of(self, source, text):
        number, = (number for number, line in enumerate(source.splitlines(), 1) if text in line)
        return number

    def build(self, name, text):
        """The runs of one build, and beside them its source."""
        folder = self.scratch / name
        (folder / "runs").mkdir(parents=True)
        (folder / "work.c").write_text(text)
        subprocess.run(["gcc", "-O2", "-g", "-Wl,--build-id", "-o", folder / "work", folder / "work.c"], check=True)
        for number in range(RUNS):
            self.run_directory = folder / "runs" / str(number)
            self.record(folder / "work", "1000", "100", options=["--no-report"], check=0)
        return folder

    def compared(self, *options):
        done = compare(self.base / "runs", self.other / "runs", "--format", "json", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        self.assertEqual(breaches(result, "comparison"), [])
        return result, {one["name"]: one for one in result["lines"]}

    def by_text(self, lines):
        changed = lines[f"scaled at work.c:{self.changed_line} -> {self.changed_line + INSERTED}"]
        self.assertTrue(changed["has_changed"], changed)
        self.assertGreater(changed["more_seconds"], 0.2 * changed["base_median_seconds"])
        usual = lines[f"usual at work.c:{self.usual_line} -> {self.usual_line + INSERTED}"]
        for side in "base", "other":
            self.assertGreater(usual[f"{side}_median_seconds"], 0, usual)
        self.assertLess(abs(usual["more_seconds"]), 0.5 * changed["more_seconds"], usual)

    def test_lines_are_matched_by_text_where_the_sources_are_here_and_by_number_where_not(self):
        result, lines = self.compared()
        self.assertEqual(result["line_notes"], [])
        self.by_text(lines)
        page = compare(self.base / "runs", self.other / "runs", "--format", "html").stdout
        self.assertIn(f"scaled at work.c:{self.changed_line} -&gt; {self.changed_line + INSERTED}", page)

        # A source that is newer than the program may be another one.
        program = (self.base / "work").stat()
        os.utime(self.base / "work.c", (program.st_mtime + 10, program.st_mtime + 10))
        result, lines = self.compared()
        self.assertIn("the source of the base changed since the build", result["line_notes"][0])
        self.assertEqual(lines[f"scaled at work.c:{self.changed_line}"]["other_median_seconds"], 0)
        self.assertIn("matched by number", " ".join(compare(self.base / "runs", self.other / "runs").stdout.split()))

        # One that the user names is taken as that of the build; without any, lines go by number.
        (self.scratch / "kept").mkdir()
        (self.base / "work.c").rename(self.scratch / "kept" / "work.c")
        result, lines = self.compared()
        self.assertIn("the source of the base cannot be read here", result["line_notes"][0])
        result, lines = self.compared("--base-source-map", f"{self.base}={self.scratch / 'kept'}")
        self.assertEqual(result["line_notes"], [])
        self.by_text(lines)


if __name__ == "__main__":
    unittest.main()
