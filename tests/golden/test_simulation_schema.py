#!/usr/bin/env python3
"""The JSON of simulations follows the schema that is installed, has no key that the schema lacks, and the schema refuses what it
must: test_simulation_schema.py RENDER_REPORT SCHEMA"""
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


def undescribed(value, schema, place="$"):
    """Keys of a document that the schema does not name."""
    if "$ref" in schema:
        schema = SCHEMA["definitions"][schema["$ref"].removeprefix("#/definitions/")]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return [found for key, item in value.items()
                for found in ([f"{place}.{key}"] if key not in known else undescribed(item, known[key], f"{place}.{key}"))]
    if isinstance(value, list):
        return [found for item in value for found in undescribed(item, schema.get("items", {}), place + "[]")]
    return []


class Schema(unittest.TestCase):
    def test_schema_is_one(self):
        jsonschema.Draft7Validator.check_schema(SCHEMA)

    def test_simulations_follow_it(self):
        for kind in "simulation", "simulation-quiet", "simulation-halo", "simulation-hostile", "simulation-recorded":
            with self.subTest(kind):
                self.assertEqual([error.message for error in VALIDATOR.iter_errors(document(kind))], [])
                self.assertEqual(undescribed(document(kind), SCHEMA), [])

    def test_breaches_are_seen(self):
        good = document("simulation")
        breaches = {
            "another version": lambda one: one.update(schema="plumb-simulation/2"),
            "no job": lambda one: one.pop("job"),
            "no ranks": lambda one: one["job"].update(ranks=0),
            "unknown collective": lambda one: one["job"].update(collective="gather"),
            "no granularity": lambda one: one["granularities"].clear(),
            "a gain above all time": lambda one: one["granularities"][0]["changes"][0]["gain_fraction"].update(mean=1.5),
            "a gain without its interval": lambda one: one["granularities"][0]["together"]["gain_fraction"].pop("half_width_95"),
            "an interval below 0": lambda one: one["granularities"][0]["cycle_seconds"].update(half_width_95=-1),
            "a fraction above 1": lambda one: one["granularities"][0]["lost_to_classes"][0].update(fraction=1.5),
            "events of no length": lambda one: one["granularities"][0]["lost_to_lengths_up_to"][0].update(length_seconds=0),
            "a class without name": lambda one: one["noise"]["classes"][0].pop("name"),
            "a size without ranks": lambda one: one["scales"][0].pop("ranks"),
            "a time as text": lambda one: one["scales"][0]["at_granularity"][0].update(quiet_cycle_seconds="1 ms"),
        }
        for name, breach in breaches.items():
            with self.subTest(name):
                bad = copy.deepcopy(good)
                breach(bad)
                self.assertFalse(VALIDATOR.is_valid(bad))

    def test_an_undescribed_key_is_seen(self):
        bad = document("simulation")
        bad["granularities"][0]["changes"][0]["cost"] = 1
        self.assertEqual(undescribed(bad, SCHEMA), ["$.granularities[].changes[].cost"])


if __name__ == "__main__":
    unittest.main()
