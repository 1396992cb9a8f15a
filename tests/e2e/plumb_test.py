"""What the end-to-end tests share: where the tool and the test programs are, and how to run them."""

import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

PLUMB = os.environ["PLUMB"]
PROGRAMS = pathlib.Path(os.environ["PLUMB_PROGRAMS"])
TREE = pathlib.Path(__file__).resolve().parents[2]  # plumb's own sources

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # what is started here would inherit that nohup ignores it


def has_mount_namespaces():
    """Whether a test may mount what it likes without anybody else seeing it (not in every container or chroot)."""
    try:
        return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def may_run_as_nobody(path):
    """Whether an unprivileged user reaches this file: a clone below a private folder is closed to others."""
    try:
        return subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "test", "-x", str(path)],
                              capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def undescribed(value, schema, definitions, place="$"):
    """Keys of a document that its schema does not name."""
    if "$ref" in schema:
        schema = definitions[schema["$ref"].removeprefix("#/definitions/")]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return [found for key, item in value.items()
                for found in ([f"{place}.{key}"] if key not in known else undescribed(item, known[key], definitions, f"{place}.{key}"))]
    if isinstance(value, list):
        return [found for item in value for found in undescribed(item, schema.get("items", {}), definitions, place + "[]")]
    return []


def breaches(document, name, apart=()):
    """What a document has against the schema that is installed for it, of analyzer/reports/json; `apart`: keys with schemas of their
    own. Without python3-jsonschema only undescribed keys are seen."""
    schema = json.loads((TREE / "analyzer" / "reports" / "json" / f"{name}.schema.json").read_text())
    wrong = undescribed({key: value for key, value in document.items() if key not in apart}, schema, schema.get("definitions", {}))
    try:
        import jsonschema
    except ImportError:
        return wrong  # the golden tests say so
    return wrong + [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(document)]


def cpu_ticks():
    """Of all CPUs since the machine's start: those that somebody wanted, and of these what the hypervisor gave to others."""
    with open("/proc/stat") as file:
        user, nice, system, _idle, _waits, interrupts, soft_interrupts, stolen = map(int, file.readline().split()[1:9])
    return user + nice + system + interrupts + soft_interrupts + stolen, stolen


def stolen_share(since):
    """Of what was wanted since those cpu_ticks()."""
    wanted, stolen = (now - before for now, before in zip(cpu_ticks(), since))
    return stolen / max(1, wanted)


def of_times(test):
    """A test whose figures are false on a virtual machine that does not get its CPUs (the time of one clock runs on in another):
    what fails then is tried again, and skipped when it never got them. On a machine that has its CPUs it fails at once."""
    @functools.wraps(test)
    def tried(self, *arguments):
        for attempt in range(3):
            if attempt > 0:
                self.doCleanups()
                self.setUp()
            since = cpu_ticks()
            try:
                return test(self, *arguments)
            except AssertionError:
                share = stolen_share(since)
                if share < 0.05:
                    raise
        self.skipTest(f"the hypervisor gave {share:.0%} of this machine's CPU time to others")
    return tried


class PlumbTest(unittest.TestCase):
    """A test with a scratch folder of its own."""

    maxDiff = 4000

    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="plumb-test-"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.run_directory = self.scratch / "run"
        self.ticks_before = cpu_ticks()

    def skip_if_cpus_were_stolen(self, most=0.1):
        """For tests of times that one try takes long for: see of_times."""
        share = stolen_share(self.ticks_before)
        if share > most:
            self.skipTest(f"the hypervisor gave {share:.0%} of this machine's CPU time to others")

    def record(self, *command, options=(), check=None, **popen):
        """`plumb run options -- command` into self.run_directory; returns the finished process (text streams)."""
        done = subprocess.run([PLUMB, "run", "-o", str(self.run_directory), *options, "--", *map(str, command)],
                              capture_output=True, text=True, timeout=120, **popen)
        if check is not None:
            self.assertEqual(done.returncode, check, done.stderr)
        return done

    def report(self, run_directory=None):
        """The run's JSON report."""
        done = subprocess.run([PLUMB, "report", str(run_directory or self.run_directory), "--format", "json"],
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def findings(self, report, identifier, at_least="low"):
        """Findings of one id, of at least this severity."""
        order = ["info", "low", "medium", "high"]
        return [finding for finding in report["findings"]
                if finding["id"] == identifier and order.index(finding["severity"]) >= order.index(at_least)]
