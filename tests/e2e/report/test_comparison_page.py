#!/usr/bin/env python3
"""The page of plumb compare: complete without scripts, a flame graph in a browser, nothing fetched, no name breaks out."""

import os
import re
import subprocess
import unittest

from page_test import CHROMIUM, BrowserTest, Outline, rows
from plumb_test import PlumbTest

RENDER = os.environ["PLUMB_RENDER_REPORT"]


def render(kind):
    return subprocess.run([RENDER, kind, "html"], capture_output=True, check=True).stdout.decode("utf-8")


class StaticPage(PlumbTest):
    """What holds without a browser, and without charts."""

    def test_it_is_complete_without_scripts(self):
        page = render("comparison")
        sections = [attributes["id"] for name, attributes in Outline(page).elements if name == "section"]
        self.assertEqual(sections, ["time", "findings", "call-tree", "metrics", "lines", "functions", "libraries", "heap", "mpi"])
        self.assertIn("The wall time changed by +37.5 %", Outline(page).text)
        self.assertEqual([row[:3] for row in rows(page, "lines")[1:]], [["heat::step at heat.f90:40 -> 52", "6.01 s", "9.02 s"]])
        self.assertEqual(rows(page, "heap")[1], ["heat::step at heat.f90:38 -> 50", "10,000 -> 20,000", "39.1 MiB -> 78.1 MiB"])
        self.assertEqual(rows(page, "mpi")[1][:2], ["MPI_Allreduce in heat::step at heat.f90:44 -> 56", "400 -> 800"])
        self.assertEqual({row[0]: row[1] for row in rows(page, "findings")[1:]}, {
            "gone": "t lies on small pages", "new": "Rank 3 computes more than the others", "larger": "heat allocates a buffer in every step"})

    def test_single_runs_get_figures_and_no_verdict(self):
        page = render("comparison-few")
        self.assertIn("With so few runs", Outline(page).text)
        self.assertIn("Lines of heat.f90 are matched by number", Outline(page).text)
        self.assertEqual(len(rows(page, "lines")), 1 + 4)
        self.assertNotRegex(Outline(page).text, r"\b(nan|inf)\b")

    def test_names_stay_text_and_nothing_points_outside(self):
        page = render("comparison-hostile")
        outline = Outline(page)
        self.assertEqual(outline.count("img"), 0)
        self.assertIn("</script><img src=x onerror=", outline.text)
        self.assertNotIn("\x1b", page)
        for name, attributes in outline.elements:
            self.assertFalse({"src", "href", "srcset", "action"} & attributes.keys(), name)
            self.assertFalse([key for key in attributes if key.startswith("on")], name)
        self.assertLess(len(page), 500 * 1024)


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class InBrowser(BrowserTest):
    def flames(self, page):
        """What is drawn: {name in the tooltip's first line: (tooltip, width, colour)}."""
        if 'id="plumb-data"' not in page:
            self.skipTest("this plumb was built without charts")
        document, console, asked = self.browse_page(page.encode())
        self.assertEqual((console, asked), ([], ["/report.html"]))
        self.assertNotIn("data-error", document)
        chart = re.search(r'<div id="chart-comparison"[^>]*data-drawn="true".*?</figure>', document, re.S)[0]
        found = {}
        for box in re.findall(r'<g [^>]*class="frame".*?</g>', chart, re.S):
            title = re.search(r"<title>(.*?)</title>", box, re.S)[1]
            rectangle = re.search(r"<rect[^>]*>", box)[0]
            found[title.split("\n")[0]] = (title, float(re.search(r' width="([\d.]+)"', rectangle)[1]),
                                           re.search(r'fill="([^"]*)"', rectangle)[1])
        return found, document

    def test_the_flame_graph_shows_what_changed(self):
        boxes, _ = self.flames(render("comparison"))
        self.assertEqual(sorted(boxes), ["heat::edge", "heat::refine", "heat::step", "main", "the runs"])
        self.assertIn("base 6.01 s, others 9.02 s\n+3.01 s, +50 %", boxes["heat::step"][0])
        self.assertIn("--more", boxes["heat::step"][2])
        self.assertNotIn("--more", boxes["heat::edge"][2])
        self.assertIn("may be chance", boxes["heat::edge"][0])
        whole = boxes["the runs"][1]
        self.assertAlmostEqual(boxes["heat::step"][1] / whole, 7.5 / 9.5, delta=0.01)
        self.assertAlmostEqual(boxes["heat::refine"][1] / whole, 1.25 / 9.5, delta=0.01)

    def test_widths_can_be_those_of_the_base(self):
        page = render("comparison")
        # A script of the test's own is not run by the page's policy: that is taken away, and the button pressed.
        page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
        page += """<script>const wait = setInterval(() => {
            const button = document.querySelector('input[value="base"]');
            if (button) { clearInterval(wait); button.click(); } }, 50);</script>"""
        boxes, document = self.flames(page)
        self.assertIn('data-widths="base"', document)
        self.assertNotIn("heat::refine", boxes) # it is only in the others
        self.assertAlmostEqual(boxes["heat::step"][1] / boxes["the runs"][1], 6 / 8, delta=0.01)

    def test_hostile_names_do_nothing(self):
        document, console, asked = self.browse_page(render("comparison-hostile").encode())
        self.assertEqual((console, asked), ([], ["/report.html"]))
        self.assertEqual(Outline(document).count("img"), 0)


if __name__ == "__main__":
    unittest.main()
