#!/usr/bin/env python3
"""The page of plumb simulate: complete without scripts, charts in a browser, nothing fetched, no name breaks out."""

import os
import re
import subprocess
import unittest

from page_test import CHROMIUM, BrowserTest, Outline, rows
from plumb_test import PLUMB, PlumbTest, TREE

RENDER = os.environ["PLUMB_RENDER_REPORT"]
PUBLISHED = TREE / "examples" / "missing-half" / "before.json"
CHARTS = [f"chart-simulation-{chart}" for chart in ("gains", "sizes", "classes", "lengths")]


def render(kind):
    return subprocess.run([RENDER, kind, "html"], capture_output=True, check=True).stdout.decode("utf-8")


def section(page, name):
    return Outline(re.search(rf'<section id="{name}">.*?</section>', page, re.S)[0]).text


class StaticPage(PlumbTest):
    """What holds without a browser, and without charts."""

    def test_it_is_complete_without_scripts(self):
        page = render("simulation")
        outline = Outline(page)
        sections = [attributes["id"] for name, attributes in outline.elements if name == "section"]
        self.assertEqual(sections, ["cycles", "changes", "sizes", "classes", "lengths", "job", "noise-classes", "assumptions"])
        for part in ("256 ranks on 64 nodes", "synthetic cluster: 4 classes", "Nothing on this page was measured", "95 % confidence",
                     "fewer than 20 events of quorum", "plumb simulate"):
            self.assertIn(part, outline.text)
        self.assertIn('comes from "without all of kernel": 37 % without work in a cycle', outline.text)

    def test_what_ifs_are_in_order_of_benefit_with_intervals(self):
        table = rows(render("simulation"), "changes")
        self.assertEqual(table[0], ["work of a rank in a cycle", "no work", "1.00 ms", "5.00 ms"])
        self.assertEqual([row[0] for row in table[1:]], ["without all of kernel", "one CPU a node spare", "not on node 1 of 32",
                                                         "not on node 17", "without quorum", "all together"])
        gains = [float(row[1].split(" ± ")[0]) for row in table[1:-1]]
        self.assertEqual(gains, sorted(gains, reverse=True))
        for row in table[1:]:
            for cell in row[1:]:
                self.assertRegex(cell, r"^-?[\d.]+ ± [\d.]+ %$")

    def test_shares_and_lengths_add_up(self):
        page = render("simulation")
        for column in 1, 2, 3:
            shares = [float(row[column].removesuffix(" %")) for row in rows(page, "classes")[1:]]
            self.assertAlmostEqual(sum(shares), 100, delta=1.5)
            lengths = [float(row[column].removesuffix(" %")) for row in rows(page, "lengths")[1:]]
            self.assertEqual((lengths[0], lengths[-1]), (0, 100))
            self.assertEqual(lengths, sorted(lengths))

    def test_the_input_is_on_the_page(self):
        page = render("simulation")
        job = section(page, "job")
        for part in "256", "no work, 1.00 ms, 5.00 ms", "a barrier of 40.0 us", "5.00 us for one message step", "4,096", "each is simulated alone":
            self.assertIn(part, job)
        noise = {row[0]: row[1:] for row in rows(page, "noise-classes")}
        self.assertEqual(noise["class"][-1], "not measured")
        self.assertEqual(noise["quorum"][-1], "phase, cpus")
        self.assertEqual(noise["tick"][-1], "")
        self.assertIn("at random", noise["collector"][1])
        self.assertIn("11.5 ms to 18.5 ms", noise["collector"][2])
        self.assertIn("intervals vary by 10 %", noise["tick"][3])
        self.assertIn("node 1 of every 32", noise["quorum"][4])
        assumed = section(page, "assumptions")
        for part in "stays on one CPU", "whole length", "All ranks have the same work", "wait for the last one":
            self.assertIn(part, assumed)

    def test_without_noise_and_of_a_halo_exchange(self):
        quiet = render("simulation-quiet")
        self.assertIn("nothing is lost", Outline(quiet).text)
        self.assertNotIn('id="changes"', quiet)
        halo = render("simulation-halo")
        self.assertIn("no cycle has one last rank", section(halo, "classes"))
        self.assertNotIn('id="lengths"', halo)
        self.assertIn("waits for its neighbours", section(halo, "assumptions"))
        self.assertIn("5.0 % more than the mean", section(halo, "assumptions"))
        self.assertIn("no confidence interval is known", section(halo, "cycles"))
        for page in quiet, halo:
            self.assertNotRegex(Outline(page).text, r"\b(nan|inf)\b")

    def test_names_stay_text_and_nothing_points_outside(self):
        page = render("simulation-hostile")
        outline = Outline(page)
        self.assertEqual(outline.count("img"), 0)
        self.assertIn("</script><img src=x onerror=", outline.text)
        self.assertNotIn("\x1b", page)
        for name, attributes in outline.elements:
            self.assertFalse({"src", "href", "srcset", "action"} & attributes.keys(), name)
            self.assertFalse([key for key in attributes if key.startswith("on")], name)

    def test_the_command_writes_one_small_page_twice_the_same(self):
        def simulate(*arguments):
            return subprocess.run([PLUMB, "simulate", "--noise", PUBLISHED, "--ranks", "256", "--cycles", "200", "--seeds", "3",
                                   "--format", "html", *arguments], capture_output=True, timeout=120)
        file = self.scratch / "page.html"
        done = simulate("--scale", "2x,4x", "-o", file)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.assertEqual(simulate("--scale", "2x,4x").stdout, file.read_bytes())
        page = file.read_text()
        self.assertLess(len(page), 500 * 1024)
        self.assertEqual([row[0] for row in rows(page, "sizes")], ["ranks", "256", "512", "1,024"])
        self.assertIn("8,192-processor machine, before: 11 classes", page)
        heartbeat = next(row for row in rows(page, "noise-classes") if row[0] == "heartbeat")
        self.assertEqual(heartbeat[-1], "scope, phase")
        if 'id="plumb-data"' not in page:
            self.assertIn("This build of plumb has no charts", page)


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class InBrowser(BrowserTest):
    def charts(self, kind):
        page = render(kind)
        if 'id="plumb-data"' not in page:
            self.skipTest("this plumb was built without charts")
        document, console, asked = self.browse_page(page.encode())
        self.assertEqual(console, [])
        self.assertEqual(asked, ["/report.html"])
        self.assertNotIn("data-error", document)
        return {chart: found[0] for chart in CHARTS
                if (found := re.search(rf'<div id="{chart}"[^>]*data-drawn="true".*?</figure>', document, re.S))}

    def test_charts_are_drawn(self):
        charts = self.charts("simulation")
        self.assertEqual(sorted(charts), sorted(CHARTS))
        bars = {name: len(re.findall(r'<rect[^>]*width="[1-9]', charts[name])) for name in CHARTS}
        self.assertEqual(bars["chart-simulation-gains"], 6 * 3)
        self.assertGreaterEqual(bars["chart-simulation-classes"], 3 * 3)
        self.assertIn("quorum, no work", charts["chart-simulation-classes"])
        self.assertIn("not on node 17, work 1.00 ms", charts["chart-simulation-gains"])
        self.assertEqual(charts["chart-simulation-sizes"].count("4,096 ranks on 1,024 nodes"), 3)
        self.assertIn("events of at most", charts["chart-simulation-lengths"])
        for name in "chart-simulation-sizes", "chart-simulation-lengths": # a line for each granularity, and no figure that is none
            lines = re.findall(r'<path[^>]* d="(M[^"]*)"', charts[name])
            self.assertGreaterEqual(len(lines), 3, name)
            self.assertNotIn("NaN", charts[name])

    def test_pages_with_less(self):
        self.assertEqual(self.charts("simulation-quiet"), {})
        self.assertEqual(self.charts("simulation-halo"), {})

    def test_hostile_names_do_nothing(self):
        page = render("simulation-hostile").encode()
        document, console, asked = self.browse_page(page)
        self.assertEqual((console, asked), ([], ["/report.html"]))
        self.assertEqual(Outline(document).count("img"), 0)


if __name__ == "__main__":
    unittest.main()
