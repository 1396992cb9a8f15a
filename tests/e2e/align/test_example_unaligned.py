"""The examples of unaligned accesses: the culprits' lines and data are named, with the counts that the programs' own
loop bounds give; what lies beside them, and the cured programs, are not."""

import pathlib
import subprocess
import time
import unittest

from plumb_test import PROGRAMS, TREE, PlumbTest

SOURCES = TREE / "examples"
BUILT = PROGRAMS.parents[1] / "examples"
IDS = ("unaligned-access", "line-split-access", "split-lock")


def line_of(example, file, text):
    """The number of the one line of a source file that holds `text`."""
    [number] = [number for number, line in enumerate((SOURCES / example / file).read_text().splitlines(), 1)
                if text in line]
    return number


class ExampleTest(PlumbTest):
    """Runs one program of an example under the alignment trap and looks at the accesses that the report lists."""

    example = ""

    def look(self, mode, program, *arguments):
        path = BUILT / self.example / program
        if not path.exists():
            self.skipTest(f"{path.name} is not built here (no Fortran compiler)")
        self.record(path, *arguments, options=("-q", "--no-report", "--force", f"--align={mode}"), check=0)
        report = self.report()
        trap = [entry for entry in report["evidence"] if entry["source"] == "alignment-trap"]
        if any(entry["state"] == "missing" for entry in trap):
            self.skipTest("the alignment trap does not work here: " + trap[0]["why"])
        self.assertEqual(report["run"]["exit_status"], 0)
        return report

    def lines(self, report):
        """{(file name, line): [accesses]} of the example's own code."""
        found = {}
        for access in report["accesses"]:
            if f"/{self.example}/" in access["file"] and "trapped" in access:
                found.setdefault((pathlib.Path(access["file"]).name, access["line"]), []).append(access)
        return found

    def sum_of(self, report, key):
        """{(file name, line): sum of one count of the trap}."""
        return {place: sum(access["trapped"][key] for access in accesses)
                for place, accesses in self.lines(report).items()}

    def data(self, report):
        return [data for accesses in self.lines(report).values() for access in accesses for data in access["data"]]

    def is_clean(self, report):
        self.assertEqual(self.lines(report), {})
        for identifier in IDS:
            self.assertEqual(self.findings(report, identifier), [])


class UnalignedCommon(ExampleTest):
    example = "unaligned-common"
    N, SWEEPS = 2**16, 10
    FILL = ("fields.f90", line_of("unaligned-common", "fields.f90", "x(i) = level / i"))
    DAMP = ("fields.f90", line_of("unaligned-common", "fields.f90", "x(i) = factor * x(i)"))
    TOTAL = ("fields.f90", line_of("unaligned-common", "fields.f90", "total = total + x(i)"))

    def test_exact(self):
        report = self.look("exact", "common-unaligned", self.SWEEPS)
        fields = 2 * self.N  # pressure and flux; height is aligned
        counts = {self.FILL: fields, self.DAMP: 2 * fields * self.SWEEPS, self.TOTAL: fields}
        self.assertEqual(self.sum_of(report, "count"), counts)
        # Contiguous real*8, 4 bytes off: one of 8 crosses a line, one of 512 a page.
        self.assertEqual(self.sum_of(report, "line_crossings"), {place: n // 8 for place, n in counts.items()})
        self.assertEqual(self.sum_of(report, "page_crossings"), {place: n // 512 for place, n in counts.items()})
        self.assertTrue(all(access["trapped"]["exact"] for accesses in self.lines(report).values() for access in accesses))
        self.names_the_block(report)

    def test_find(self):
        report = self.look("find", "common-unaligned")
        self.assertIn(self.DAMP, self.lines(report))
        self.assertLessEqual(set(self.lines(report)), {self.FILL, self.DAMP, self.TOTAL})
        self.names_the_block(report)

    def names_the_block(self, report):
        named = {(data["name"], data.get("member")) for data in self.data(report)}
        self.assertLessEqual(named, {("/state/", "pressure"), ("/state/", "flux")})
        self.assertTrue(named)
        self.assertEqual({data["cause"] for data in self.data(report)}, {"common block order"})
        subjects = {finding["subject"]["name"] for finding in self.findings(report, "unaligned-access", "info")}
        self.assertEqual(subjects, {"/state/"})

    def test_ordered_is_clean(self):
        self.is_clean(self.look("exact", "common-ordered", self.SWEEPS))


class PackedRecords(ExampleTest):
    example = "packed-records"
    N, PASSES = 2**16, 10
    STATION = ("packed.c", line_of("packed-records", "packed.c", "].station = "))
    VALUE = ("packed.c", line_of("packed-records", "packed.c", "].value = "))
    CALIBRATE = ("packed.c", line_of("packed-records", "packed.c", "].value *= gain"))
    SUM = ("packed.c", line_of("packed-records", "packed.c", "sum += records[i].value"))

    def test_exact(self):
        report = self.look("exact", "records-packed", self.PASSES, self.N)
        # Records of 14 bytes from an even address on: a member takes each even place within 64 bytes (4096 bytes)
        # equally often. Of 32 places, 8-byte values are aligned at 8 and cross the line at 3; of 2048, the page at 3.
        values = {self.VALUE: 1, self.CALIBRATE: 2 * self.PASSES, self.SUM: 1}
        expected = {place: times * self.N * 24 // 32 for place, times in values.items()}
        expected[self.STATION] = self.N // 2
        self.assertEqual(self.sum_of(report, "count"), expected)
        crossing = {place: times * self.N * 3 // 32 for place, times in values.items()}
        crossing[self.STATION] = self.N // 32
        self.assertEqual(self.sum_of(report, "line_crossings"), crossing)
        paging = {place: times * self.N * 3 // 2048 for place, times in values.items()}
        paging[self.STATION] = self.N // 2048
        self.assertEqual(self.sum_of(report, "page_crossings"), paging)
        self.names_the_structure(report)

    def test_find(self):
        report = self.look("find", "records-packed")
        self.assertIn(self.CALIBRATE, self.lines(report))
        self.assertLessEqual(set(self.lines(report)), {self.STATION, self.VALUE, self.CALIBRATE, self.SUM})
        self.names_the_structure(report)

    def names_the_structure(self, report):
        for place, accesses in self.lines(report).items():
            for data in (data for access in accesses for data in access["data"]):
                self.assertIn("struct file_record", data["name"] + data.get("structure", ""))
                self.assertEqual(data.get("member"), "station" if place == self.STATION else "value")
                self.assertEqual(data["cause"], "packed structure")

    def test_converted_is_clean(self):
        self.is_clean(self.look("exact", "records-converted", self.PASSES, self.N))


class SplitLock(ExampleTest):
    example = "split-lock"
    DRAWS = 600  # each of them may cost a third of a millisecond
    DRAWN = ("split.cpp", line_of("split-lock", "split.cpp", "__atomic_fetch_add(drawn"))

    PRINTED = ("split.cpp", line_of("split-lock", "split.cpp", "static_cast<unsigned long>(header.drawn)"))

    def check(self, report, count, draws=DRAWS):
        # The result is read once for printing, without a lock.
        self.assertLessEqual({self.DRAWN}, set(self.lines(report)))
        self.assertLessEqual(set(self.lines(report)), {self.DRAWN, self.PRINTED})
        count(sum(access["trapped"]["count"] for access in self.lines(report)[self.DRAWN]), draws)
        self.assertTrue(all(access["access"]["locked"] for access in self.lines(report)[self.DRAWN]))
        [finding] = self.findings(report, "split-lock", at_least="info")  # what one costs is up to the machine
        self.assertEqual(finding["where"][0]["line"], self.DRAWN[1])
        self.assertTrue(finding["where"][0]["file"].endswith("split-lock/split.cpp"))
        self.assertIn("header", finding["subject"]["name"])
        self.assertEqual({data.get("member") for data in self.data(report)}, {"drawn"})

    def test_exact(self):
        report = self.look("exact", "lock-split", self.DRAWS)
        self.check(report, self.assertEqual)
        self.assertEqual(self.sum_of(report, "line_crossings"), {self.DRAWN: self.DRAWS, self.PRINTED: 1})

    def test_find(self):
        """Where draws cost next to nothing, more of them: threads that end at once are not watched."""
        begin = time.monotonic()
        subprocess.run([BUILT / self.example / "lock-split", str(self.DRAWS)], check=True, capture_output=True)
        draws = self.DRAWS * max(1, round(0.5 / (time.monotonic() - begin)))
        self.check(self.look("find", "lock-split", draws), self.assertLessEqual, draws)

    def test_whole_is_clean(self):
        self.is_clean(self.look("exact", "lock-whole", self.DRAWS))


if __name__ == "__main__":
    unittest.main()
