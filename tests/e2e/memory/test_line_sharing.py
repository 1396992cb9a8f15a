"""Cache lines that threads share: the object, the bytes, the lines of source and the padding are named; padded, read-only and
handed-over memory is not blamed; the gain that is told is of the size that the cure brings."""

import json
import os
import resource
import statistics
import subprocess
import time
import unittest

from plumb_test import PROGRAMS, TREE, PlumbTest

SOURCE = TREE / "tests" / "programs" / "line_sharing.cpp"
EXAMPLE = TREE / "examples" / "false-sharing"
BUILT = PROGRAMS.parents[1] / "examples" / "false-sharing"
PROGRAM = PROGRAMS / "line_sharing"
MILLISECONDS = 1500
BUSY_CPUS = 1.25    # that a run of two threads must have had, or the machine did not let them run side by side
CLEAR_PENALTY = 1.4 # of an access to a contended line: from here on the finding must not be missing


def line_of(text, source=SOURCE):
    [number] = [number for number, line in enumerate(source.read_text().splitlines(), 1) if text in line]
    return number


class LineSharing(PlumbTest):
    def look(self, *command, options=()):
        """Findings about shared lines in one run, by id."""
        before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        self.record(*command, options=("-q", "--no-report", "--force", "--budget", "10", *options), check=0)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpus = (after.ru_utime - before.ru_utime) / (time.monotonic() - begin)
        self.seen = self.report()
        for entry in self.seen["evidence"]:
            if entry["source"] in ("address-sampling", "perf-sampling") and entry["state"] == "missing":
                self.skipTest(f"no sampled addresses here: {entry['why']}")
        return {name: self.findings(self.seen, name, "info") for name in ("false-sharing", "true-sharing")}

    def records(self, name):
        done = subprocess.run([os.environ["PLUMB"], "dump", str(self.run_directory), "--only", name, "--format", "json"],
                              capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]

    def pattern(self, name, *more, milliseconds=MILLISECONDS, **options):
        return self.look(PROGRAM, name, milliseconds, *more, **options)

    def is_named(self, identifier, name, *more, **options):
        """The one finding of a pattern that shares lines, in one of a few runs: other programs may get in the way."""
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("threads share cache lines on two CPUs and more")
        for _ in range(3):
            found = self.pattern(name, *more, **options)
            other = "true-sharing" if identifier == "false-sharing" else "false-sharing"
            self.assertEqual(found[other], [])
            if found[identifier]:
                [finding] = found[identifier]
                return finding
            self.is_worth_another()
        self.fail(f"{name}: nothing is said of {identifier}")

    def is_worth_another(self):
        """Skips where the two threads hardly ran at the same time, or a line costs nothing when it changes hands here; then
        at least it must have been seen to."""
        if self.cpus < BUSY_CPUS:
            self.skipTest(f"this machine is too busy to run two threads at the same time ({self.cpus:.2f} CPUs)")
        lines = self.records("SharedLine")
        self.assertTrue(lines, "no shared line was seen")
        self.assertGreater(lines[0]["same_handovers"] + lines[0]["other_handovers"], 8)
        forms = ("load", "store", "update", "locked")
        penalties = [record[f"contended_{form}_ps"] / record[f"own_{form}_ps"]
                     for record in self.records("LineTransfer") for form in forms if record[f"own_{form}_ps"]]
        if penalties and max(penalties) < CLEAR_PENALTY:
            self.skipTest(f"accesses like these are hardly slower on a contended line here: {penalties}")

    def test_an_array_of_structures_is_named_with_its_padding(self):
        finding = self.is_named("false-sharing", "structures")
        self.assertEqual(finding["subject"]["kind"], "variable")
        self.assertTrue(finding["subject"]["name"].endswith("counters"), finding["subject"])
        self.assertFalse(finding["subject"]["name"].endswith("padded_counters"))
        # Which of the two members the samples met is chance; that both threads' elements are there is not.
        members = set(finding["subject"]["members"])
        self.assertLessEqual(members, {"[0].hits", "[0].bytes", "[1].hits", "[1].bytes"})
        self.assertEqual({member[:3] for member in members}, {"[0]", "[1]"})
        places = [where["line"] for where in finding["where"]]
        self.assertTrue(places[0] in (line_of("// hits of an element"), line_of("// bytes of an element")), places)
        self.assertTrue(finding["where"][0]["file"].endswith("line_sharing.cpp"))
        evidence = finding["evidence"]
        self.assertEqual(evidence["thread_count"], 2)
        self.assertEqual(evidence["writing_thread_count"], 2)
        self.assertEqual(evidence["line_count"], 1)
        self.assertEqual(evidence["spacing_bytes"], 16)
        self.assertEqual(evidence["padding_bytes"], evidence["line_bytes"] - 16)
        self.assertGreater(finding["cost"]["fraction"], 0.03)
        self.assertIn(f"{evidence['line_bytes']} bytes instead of 16", finding["advice"][0]["what"])

    def test_an_array_of_integers_is_named(self):
        finding = self.is_named("false-sharing", "integers")
        self.assertTrue(finding["subject"]["name"].endswith("tallies"), finding["subject"])
        self.assertEqual(finding["where"][0]["line"], line_of("// tally"))
        self.assertEqual(finding["evidence"]["spacing_bytes"], 4)

    def test_a_small_block_of_the_heap_is_named_by_its_type_or_line(self):
        finding = self.is_named("false-sharing", "heap")
        lines = (line_of("// hits of an element"), line_of("// bytes of an element"))
        self.assertTrue("Counter" in finding["subject"]["name"] or
                        finding["subject"]["name"].endswith(tuple(f"line_sharing.cpp:{line}" for line in lines)),
                        finding["subject"])
        self.assertIn(finding["where"][0]["line"], lines)
        self.assertEqual(finding["evidence"]["spacing_bytes"], 16)

    def test_a_large_block_of_the_heap_is_named_by_its_allocation(self):
        finding = self.is_named("false-sharing", "large-heap")
        self.assertEqual(finding["subject"]["kind"], "allocation")
        self.assertTrue(finding["subject"]["name"].endswith(f"line_sharing.cpp:{line_of('// allocated')}"), finding["subject"])

    def test_a_value_read_beside_a_written_one_is_named(self):
        finding = self.is_named("false-sharing", "beside")
        self.assertTrue(finding["subject"]["name"].endswith("state"), finding["subject"])
        self.assertEqual(finding["evidence"]["writing_thread_count"], 1)

    def test_an_atomic_counter_is_named(self):
        finding = self.is_named("true-sharing", "atomic")
        self.assertTrue(finding["subject"]["name"].endswith("total"), finding["subject"])
        self.assertEqual(finding["where"][0]["line"], line_of("// count all"))
        self.assertFalse(finding["evidence"]["is_lock"])
        self.assertIn("count in its own variable", finding["advice"][0]["what"])
        self.assertNotIn("padding_bytes", finding["evidence"])

    def test_a_mutex_is_the_line_that_takes_it(self):
        """Threads that wait for a mutex mostly sleep: what is said of it depends on how long; never anything else."""
        found = self.pattern("mutex")
        for finding in found["true-sharing"]:
            self.assertTrue(finding["subject"]["name"].endswith(("mutex", "guarded")), finding["subject"])
            self.assertTrue(finding["where"][0]["file"].endswith("line_sharing.cpp"), finding["where"])
            self.assertEqual(finding["cost"]["how"], "bound" if finding["evidence"]["is_lock"] else "estimated")

    def test_the_cured_and_the_innocent_are_not_blamed(self):
        nothing = {"false-sharing": [], "true-sharing": []}
        for name in "padded", "atomic-own", "flag", "once":
            self.assertEqual(self.pattern(name, milliseconds=1000), nothing, name)
        self.assertEqual(self.pattern("structures", 1, milliseconds=600), nothing, "one thread")
        one = str(min(os.sched_getaffinity(0)))
        self.assertEqual(self.look("taskset", "-c", one, PROGRAM, "structures", 800), nothing, "one CPU")
        for program in (("access_kernels", "histogram", 400), ("page_patterns", "heap", 16, 400), ("heap_mix", 40, 20)):
            self.assertEqual(self.look(PROGRAMS / program[0], *program[1:]), nothing, program)

    def wall_s(self, program):
        begin = time.monotonic()
        subprocess.run([BUILT / program], check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - begin

    def test_the_example_and_its_gain(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("threads share cache lines on two CPUs and more")
        self.assertEqual(self.look(BUILT / "sharing-padded"), {"false-sharing": [], "true-sharing": []})
        told, measured = [], []
        for _ in range(3):
            found = self.look(BUILT / "sharing-shared")
            self.assertEqual(found["true-sharing"], [])
            if not found["false-sharing"]:
                self.is_worth_another()
                continue
            [finding] = found["false-sharing"]
            self.assertTrue(finding["subject"]["name"].endswith("counts"), finding["subject"])
            self.assertTrue(finding["where"][0]["file"].endswith("survey.h"), finding["where"])
            self.assertIn("64 bytes instead of 24", finding["advice"][0]["what"])
            if finding["cost"]["how"] != "estimated":
                self.skipTest("accesses to lines of others could not be timed here: the machine is too busy")
            told.append(1 / (1 - min(0.99, finding["gain"]["fraction"])))
            measured.append(self.wall_s("sharing-shared") / self.wall_s("sharing-padded"))
        self.assertTrue(told, "nothing is said of the example")
        # What is timed is not the program, and both only as good as this machine is quiet: the order of magnitude must fit.
        ratio = statistics.median(told) / statistics.median(measured)
        self.assertTrue(1 / 4 <= ratio <= 4, f"told {told}, measured {measured}")


if __name__ == "__main__":
    unittest.main(verbosity=2)
