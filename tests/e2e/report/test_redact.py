#!/usr/bin/env python3
"""--redact: what is planted in arguments, environment, host name and folders is neither in the record nor in a report of it,
and the findings are still there."""

import json
import os
import shutil
import subprocess
import unittest

from plumb_test import PLUMB, PlumbTest

HOST, USER, ARGUMENT, VALUE = "plantedhost", "planteduser", "plantedargument", "plantedvalue"
HOME, PROJECT, SOURCES = f"/home/{USER}", "plantedproject", "plantedsources"
SECRETS = (HOST, USER, ARGUMENT, VALUE, HOME, PROJECT, SOURCES)

PROGRAM = """
#include <stdlib.h>
#include <string.h>
static char *volatile kept[64];
int main(int argc, char **argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 0;
    for (int i = 0; i < rounds * 1000; ++i) {
        free(kept[i % 64]);
        kept[i % 64] = malloc(100 + i % 1000);
        memset(kept[i % 64], 1, 100);
    }
    return 0;
}
"""

# In a user, mount and UTS namespace of its own, the machine has the planted name and a home folder of the planted user.
SETUP = f"""set -e
hostname {HOST}
mount -t tmpfs none /home
mkdir -p {HOME}
mount --bind "$1" {HOME}
cd {HOME}/{PROJECT}
shift
exec "$@"
"""


def can_name_host():
    try:
        return subprocess.run(["unshare", "-r", "-m", "--uts", "sh", "-c", "hostname x && mount -t tmpfs none /home"],
                              capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@unittest.skipUnless(can_name_host(), "no user, mount and UTS namespaces here")
@unittest.skipUnless(shutil.which("gcc") and os.path.isdir("/home"), "no gcc, or no /home")
class Redaction(PlumbTest):
    def setUp(self):
        super().setUp()
        self.home = self.scratch / "home"
        folder = self.home / PROJECT / SOURCES
        folder.mkdir(parents=True)
        (folder / "busy.c").write_text(PROGRAM)
        self.inside("gcc", "-O1", "-g", "-Wl,--build-id", "-o", f"{HOME}/{PROJECT}/busy", f"{HOME}/{PROJECT}/{SOURCES}/busy.c")

    def inside(self, *words):
        done = subprocess.run(["unshare", "-r", "-m", "--uts", "sh", "-c", SETUP, "sh", self.home, *map(str, words)],
                              capture_output=True, text=True, timeout=120,
                              env={**os.environ, "PLANTED": VALUE, "XDG_CACHE_HOME": f"{HOME}/cache"})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def record(self, *options):
        return self.inside(PLUMB, "run", "-o", "run", "--rate", "2000", *options, "--", f"./busy", "20000", ARGUMENT).stderr

    def reports(self, *options):
        return {form: self.inside(PLUMB, "report", "run", "--format", form, *options).stdout for form in ("text", "json", "html")}

    def files(self):
        return {path: path.name.encode() + b"\0" + path.read_bytes()
                for path in (self.home / PROJECT / "run").rglob("*") if path.is_file()}

    def assert_free_of_secrets(self, text, where):
        for secret in SECRETS:
            self.assertNotIn(secret if isinstance(text, str) else secret.encode(), text, where)

    def assert_has_lines(self, reports):
        lines = [place for finding in json.loads(reports["json"])["findings"] for place in finding["where"]]
        self.assertTrue(any(place["file"] == "busy.c" and place["line"] > 0 for place in lines), lines)
        self.assertIn("busy.c:", reports["text"])
        self.assertIn("busy.c:", reports["html"])

    def test_report_of_a_whole_record(self):
        self.record()
        record = b"".join(self.files().values())
        plain = self.reports()
        for secret in (HOST, ARGUMENT, HOME):  # else this test could not fail
            self.assertIn(secret.encode(), record)
            self.assertIn(secret, "".join(plain.values()))
        self.assertIn(SOURCES, plain["json"])
        self.assertIn("memset(kept", plain["html"])
        redacted = self.reports("--redact")
        for form, text in redacted.items():
            self.assert_free_of_secrets(text, form)
        self.assertNotIn("memset(kept", redacted["html"])
        self.assert_has_lines(redacted)
        kinds = [[(finding["id"], finding["severity"]) for finding in json.loads(reports["json"])["findings"]]
                 for reports in (plain, redacted)]
        self.assertEqual(*kinds)

    def test_redacted_record(self):
        at_the_end = self.record("--redact")
        self.assert_free_of_secrets(at_the_end, "the report after the run")
        self.assertIn("busy.c:", at_the_end)
        self.assertTrue(any(path.suffix == ".plumb" and path.name.startswith("process-") for path in self.files()))
        for form, text in self.reports().items():
            self.assert_free_of_secrets(text, form)
        self.assert_has_lines(self.reports("--sysroot", f"{HOME}/{PROJECT}"))
        for path, content in self.files().items():
            self.assert_free_of_secrets(content, str(path))
        self.assert_free_of_secrets(self.inside(PLUMB, "dump", "run").stdout.replace(f"# {HOME}/{PROJECT}/run/", ""), "the dump")

    def test_no_redacted_timeline(self):
        self.record("--redact", "--timeline")
        done = subprocess.run([PLUMB, "report", self.home / PROJECT / "run", "--format", "timeline"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 125)
        self.assertIn("redacted", done.stderr)


if __name__ == "__main__":
    unittest.main()
