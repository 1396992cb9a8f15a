#!/usr/bin/env python3
"""What one meson test run came to, a line each, for .ci/test: reads meson-logs/testlog.json.

    ok|skip|fail|timeout|signal TAB test TAB times|exact     a test; `times`: its figures are times, of the suite `times`
    part TAB test TAB case: reason                           a case inside a test script that was skipped

A script that skips some of its cases is `ok` to meson; what was not tested is said by the `part` lines.

With the name of a test behind the log's: what that test printed.
"""

import json
import re
import sys

SKIPPED = re.compile(r"^(?P<case>test\w*|setUpClass) \((?P<rest>.*?)\.\.\. skipped (?P<quote>['\"])(?P<reason>.*)(?P=quote)$")
GUEST_SKIPPED = re.compile(r"^skipped (?P<case>\w+) \(.*?\): (?P<reason>.*)$")  # tests/guest/guest_test.py
SUB_TEST = re.compile(r"\) (\(.*?\)|\[.*?\])(?: |$)")  # the parameters of a subTest, behind the name


def outcome(result, returncode):
    """One word for meson's result; a death by signal and a time-out are no ordinary failures."""
    if result in ("OK", "EXPECTEDFAIL"):
        return "ok"
    if result == "SKIP":
        return "skip"
    if result == "TIMEOUT":
        return "timeout"
    return "signal" if returncode < 0 or 128 < returncode < 160 else "fail"


def skipped_cases(text):
    """(case, reason) of what unittest's verbose output, or a guest's, says was skipped."""
    before = ""
    for line in text.splitlines():
        line = line.strip()
        # The description of a case stands on a line of its own between its name and what became of it.
        match = SKIPPED.match(line) or SKIPPED.match(f"{before} {line}") or GUEST_SKIPPED.match(line)
        if match:
            rest = match.groupdict().get("rest") or ""
            parameters = SUB_TEST.search(rest)
            yield match["case"] + (" " + parameters[1] if parameters else ""), match["reason"]
        before = line


def entries(lines):
    """(suites, name, what meson says of it) of a log's tests."""
    for line in lines:
        entry = json.loads(line)
        suites, _, name = entry["name"].rpartition(" / ")
        yield suites.partition(":")[2].split("+"), name or entry["name"], entry


def printed(lines, wanted):
    """What a test printed, on both streams."""
    return "\n".join(entry.get(stream, "") for _, name, entry in entries(lines) if name == wanted for stream in ("stdout", "stderr"))


def results(lines):
    """The output's lines of a log's lines."""
    for suites, name, entry in entries(lines):
        kind = "times" if "times" in suites else "exact"
        yield f"{outcome(entry['result'], entry.get('returncode') or 0)}\t{name}\t{kind}"
        for case, reason in skipped_cases(entry.get("stdout", "") + "\n" + entry.get("stderr", "")):
            yield f"part\t{name}\t{case}: {reason}"


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    with open(sys.argv[1]) as log:
        for line in results(log) if len(sys.argv) == 2 else [printed(log, sys.argv[2])]:
            print(line)
