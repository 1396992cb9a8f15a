#!/usr/bin/env python3
"""The JSON reports of synthetic runs follow the schema that is installed, and the schema refuses what it must:
test_schema.py RENDER_REPORT SCHEMA"""
import copy
import json
import subprocess
import sys
import unittest

try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed")
    sys.exit(77)  # skipped

RENDER, SCHEMA = sys.argv.pop(1), json.load(open(sys.argv.pop(1), encoding="utf-8"))
VALIDATOR = jsonschema.Draft7Validator(SCHEMA)


def document(kind):
    return json.loads(subprocess.run([RENDER, kind, "json"], capture_output=True, check=True).stdout)


class Schema(unittest.TestCase):
    def test_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_reports_follow_it(self):
        for kind in ("stacked", "clean", "killed", "hostile", "wide", "unaligned", "mpi", "mpi-wide", "memory", "memory-wide"):
            with self.subTest(kind):
                self.assertEqual([error.message for error in VALIDATOR.iter_errors(document(kind))], [])

    def test_breaches_are_seen(self):
        good = document("stacked")
        breaches = {
            "unknown severity": lambda report: report["findings"][0].update(severity="fatal"),
            "fraction above 1": lambda report: report["findings"][0]["cost"].update(fraction=1.5),
            "no id": lambda report: report["findings"][0].pop("id"),
            "another version": lambda report: report.update(schema="plumb-report/2"),
            "advice for nobody": lambda report: report["findings"][0]["advice"][0].update(applies="someone"),
            "metric without value": lambda report: next(iter(report["metrics"].values())).pop("value"),
        }
        for name, breach in breaches.items():
            with self.subTest(name):
                bad = copy.deepcopy(good)
                breach(bad)
                self.assertFalse(VALIDATOR.is_valid(bad))

    def test_plain_numbers(self):
        finding = document("stacked")["findings"][0]
        self.assertEqual(finding["subject"], {"kind": "cpu", "name": 0, "host": "node042"})
        self.assertNotIn("broken", finding["evidence"])  # it was not a number


if __name__ == "__main__":
    unittest.main()
