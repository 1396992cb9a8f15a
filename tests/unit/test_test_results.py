"""What is said of a test run is what its log says: cases that were skipped inside a script, time-outs, deaths by signal."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv[1]  # tests/tools/test_results.py
SCRIPT = """
import unittest

class Case(unittest.TestCase):
    def test_plain(self):
        self.skipTest("no 'x' here")

    def test_described(self):
        \"\"\"Says something.\"\"\"
        self.skipTest("why not")

    def test_parts(self):
        \"\"\"Has parts.\"\"\"
        for name in ("one", "two"):
            with self.subTest(name):
                if name == "two":
                    self.skipTest("not two")

    def test_passes(self):
        print("... skipped 'this is output'")

@unittest.skipIf(True, "whole")
class Other(unittest.TestCase):
    def test_it(self):
        pass

unittest.main()
"""


def lines(*entries, of=()):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as log:
        log.write("".join(json.dumps(entry) + "\n" for entry in entries))
        log.flush()
        return subprocess.run([sys.executable, TOOL, log.name, *of], check=True, capture_output=True,
                              text=True).stdout.splitlines()


class TestResults(unittest.TestCase):
    def test_outcomes(self):
        seen = lines({"name": "plumbline:unit / a", "result": "OK", "returncode": 0},
                     {"name": "plumbline:e2e+times / b", "result": "FAIL", "returncode": 1},
                     {"name": "plumbline:e2e+times / c", "result": "TIMEOUT", "returncode": -15},
                     {"name": "plumbline:e2e / d e", "result": "FAIL", "returncode": -11},
                     {"name": "plumbline:golden / f", "result": "SKIP", "returncode": 77})
        self.assertEqual(seen, ["ok\ta\texact", "fail\tb\ttimes", "timeout\tc\ttimes", "signal\td e\texact",
                                "skip\tf\texact"])

    def test_cases_skipped_inside_a_script(self):
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(folder, "script.py")
            script.write_text(SCRIPT)
            said = subprocess.run([sys.executable, str(script), "-v"], capture_output=True, text=True)
        seen = lines({"name": "plumbline:e2e / s", "result": "OK", "returncode": 0, "stdout": said.stdout,
                      "stderr": said.stderr})
        self.assertEqual(sorted(seen), ["ok\ts\texact", "part\ts\ttest_described: why not", "part\ts\ttest_it: whole",
                                        "part\ts\ttest_parts [two]: not two", "part\ts\ttest_plain: no 'x' here"])

    def test_what_one_test_printed(self):
        seen = lines({"name": "plumbline:e2e / a", "result": "FAIL", "returncode": 1, "stdout": "why", "stderr": "because"},
                     {"name": "plumbline:e2e / b", "result": "OK", "returncode": 0, "stdout": "no"}, of=["a"])
        self.assertEqual(seen, ["why", "because"])

    def test_cases_skipped_in_a_guest(self):
        seen = lines({"name": "plumbline:guest / g", "result": "OK", "returncode": 0,
                      "stderr": "skipped test_x (__main__.Guest.test_x): no such machine\n"})
        self.assertEqual(seen, ["ok\tg\texact", "part\tg\ttest_x: no such machine"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
