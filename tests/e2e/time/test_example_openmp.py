"""examples/uneven-team: the region with unequal work is found on its line whatever idle threads do, the cured one is not."""

import os
import pathlib
import re
import unittest

from plumb_test import PROGRAMS, TREE, PlumbTest, of_times

ALLOWED = sorted(os.sched_getaffinity(0))
EXAMPLE = PROGRAMS.parents[1] / "examples" / "uneven-team"
SOURCE = TREE / "examples" / "uneven-team" / "by_number.c"
LINE = next(number for number, line in enumerate(SOURCE.read_text().splitlines(), 1) if "#pragma omp parallel for" in line)
STEPS = 30


@unittest.skipIf(len(ALLOWED) < 2, "needs two CPUs")
@unittest.skipUnless((EXAMPLE / "team-by_number").exists(), "no OpenMP for C")
class UnevenTeam(PlumbTest):
    def run_team(self, program, policy):
        environment = {**os.environ, "OMP_NUM_THREADS": "2", **({"OMP_WAIT_POLICY": policy} if policy else {})}
        environment.pop("OMP_PROC_BIND", None)
        done = self.record(EXAMPLE / program, STEPS, options=("-q", "--no-report", "--force"), check=0, env=environment)
        self.assertEqual(done.stdout.count("\n"), 1)
        return self.report()

    def waiting_for_team(self, report):
        """Share of the thread time that is waiting for the team, spinning or blocked."""
        account = report["account"]
        total = sum(line["seconds"] for line in account["lines"]) + account["idle_seconds"] + account["handed_over_seconds"]
        self.assertAlmostEqual(total, account["thread_seconds"], delta=1e-6 * account["thread_seconds"])
        return sum(line["seconds"] for line in account["lines"]
                   if line["class"] == "openmp-runtime" or line.get("wait") == "barrier") / account["thread_seconds"]

    @of_times
    def test_unequal_work_is_found(self):
        for policy in ("", "active", "passive"):
            with self.subTest(policy=policy):
                report = self.run_team("team-by_number", policy)
                findings = self.findings(report, "omp-imbalance")
                if len(findings) != 1:
                    self.skip_if_cpus_were_stolen()
                self.assertEqual(len(findings), 1)
                finding = findings[0]
                self.assertEqual((pathlib.Path(finding["where"][0]["file"]).name, finding["where"][0]["line"]), ("by_number.c", LINE))
                self.assertEqual(finding["evidence"]["region_count"], STEPS)
                title = re.match(r"Thread 1 of 2 does (\d+) % of the work", finding["title"])
                self.assertIsNotNone(title, finding["title"])
                self.assertAlmostEqual(int(title[1]), 75, delta=4) # equal turns take unequal time, by some per cent
                self.assertEqual(finding["severity"], "high")
                # A quarter and three quarters: 3/4 become 2/4, a third less, of what the region is of the run.
                self.assertGreater(finding["gain"]["fraction"], 0.2)
                self.assertLess(finding["gain"]["fraction"], 0.36)
                # Of two threads one works for a third of the time.
                self.assertGreater(self.waiting_for_team(report), 0.2)
                self.assertLess(self.waiting_for_team(report), 0.4)

    @of_times
    def test_the_cured_one_is_not_blamed(self):
        report = self.run_team("team-as_they_finish", "")
        for identifier in ("omp-imbalance", "omp-critical", "omp-small-regions", "omp-serial"):
            self.assertEqual(self.findings(report, identifier), [])
        self.assertLess(self.waiting_for_team(report), 0.1)


if __name__ == "__main__":
    unittest.main()
