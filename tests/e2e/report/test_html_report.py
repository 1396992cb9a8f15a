#!/usr/bin/env python3
"""The HTML report in a headless browser: charts are drawn, findings are visible, nothing is fetched, no name breaks out."""

import os
import re
import subprocess
import unittest

from page_test import CHROMIUM, BrowserTest, Outline
from plumb_test import PLUMB, PlumbTest

RENDER = os.environ["PLUMB_RENDER_REPORT"]


def render(kind):
    return subprocess.run([RENDER, kind, "html", __file__], capture_output=True, check=True).stdout


class StaticPage(PlumbTest):
    """What holds without a browser."""

    def test_hostile_names_stay_text(self):
        document = render("hostile").decode("utf-8")  # valid whatever the names were
        outline = Outline(document)
        self.assertEqual(outline.count("img"), 0)
        self.assertFalse([name for name, attributes in outline.elements
                          if any(key.startswith("on") for key in attributes)])
        self.assertIn("</script><img src=x onerror=", outline.text)
        self.assertNotIn("\x1b", document)

    def test_nothing_points_outside(self):
        for name, attributes in Outline(render("stacked").decode()).elements:
            self.assertFalse({"src", "href", "srcset", "action"} & attributes.keys(), name)

    def test_memory_nodes_need_no_script(self):
        outline = Outline(render("memory").decode())
        for text in "From CPUs of", "to node 1", "Lies on", "the memory allocated at", "went to the memory of another node":
            self.assertIn(text, outline.text)

    def test_stays_small_for_wide_runs(self):
        for kind in "wide", "memory-wide", "mpi-wide":
            self.assertLess(len(render(kind)), 500 * 1024, kind)

    def test_account_and_findings_come_first_and_need_no_script(self):
        outline = Outline(render("stacked").decode())
        sections = [attributes["id"] for name, attributes in outline.elements if name == "section"]
        self.assertEqual(sections[:4], ["account", "findings", "metrics", "timeline"])
        self.assertIn("Time of all threads", outline.text)
        self.assertIn("4 threads of app share CPU 0 while CPU 1 stands idle", outline.text)
        self.assertIn("plumb run --pin=scatter -- ./app -n 4 'two words'", outline.text)


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class InBrowser(BrowserTest):
    def page_with_charts(self, kind):
        page = render(kind)
        if b'id="plumb-data"' not in page:
            self.skipTest("this plumb was built without charts")
        return page

    def assert_charts(self, document, charts=("chart-threads", "chart-cpus")):
        for chart in charts:
            place = re.search(rf'<div id="{chart}"[^>]*data-drawn="true".*?</figure>', document, re.S)
            self.assertTrue(place, f"{chart} was not drawn")
            sizes = re.findall(r'<svg[^>]*width="(\d+)"[^>]*height="(\d+)"[^>]*viewBox', place[0])  # legends too
            self.assertTrue(any(int(width) > 400 and int(height) > 60 for width, height in sizes), sizes)
            bars, images = (len(re.findall(mark, place[0])) for mark in (r"<rect[^>]*width=\"[1-9]", r'<image[^>]*href="data:image/'))
            self.assertGreater(bars + 4 * images, 3, chart)

    def test_charts_findings_and_silence(self):
        page = self.page_with_charts("stacked")
        document, console, asked = self.browse_page(page)
        self.assertEqual(console, [])
        self.assertEqual(asked, ["/report.html"])
        self.assertNotIn("data-error", document)
        self.assert_charts(document, ("chart-threads", "chart-cpus", "chart-account-threads"))
        self.assertEqual(Outline(document).count("article", **{"data-id": "cpu-oversubscribed"}), 1)

    def test_many_threads_and_cpus(self):
        page = self.page_with_charts("wide")
        document, console, _ = self.browse_page(page)
        self.assertEqual(console, [])
        self.assert_charts(document)

    def test_mpi(self):
        for kind in ("mpi", "mpi-wide"):
            page = self.page_with_charts(kind)
            document, console, _ = self.browse_page(page)
            self.assertEqual(console, [])
            self.assertNotIn("data-error", document)
            self.assert_charts(document, [f"chart-mpi-{chart}" for chart in ("ranks", "cycles", "arrivals", "matrix", "sizes")])

    def test_memory_nodes(self):
        for kind, nodes, objects in ("memory", 2, 3), ("memory-wide", 8, 200):
            page = self.page_with_charts(kind)
            document, console, _ = self.browse_page(page)
            self.assertEqual(console, [])
            self.assertNotIn("data-error", document)
            self.assert_charts(document, [f"chart-memory-{chart}" for chart in ("matrix", "objects", "nodes")])
            matrix = re.search(r'<div id="chart-memory-matrix".*?</figure>', document, re.S)[0]
            self.assertGreaterEqual(len(re.findall(r"<rect", matrix)), 2 * nodes)  # its own memory, and node 0's
            filled = re.search(r'<div id="chart-memory-nodes".*?</figure>', document, re.S)[0]
            for node in range(nodes):
                self.assertIn(f"node {node}, 1 GiB", filled)
            strips = re.search(r'<div id="chart-memory-objects".*?</figure>', document, re.S)[0]
            self.assertLessEqual(int(re.search(r'<svg[^>]*height="(\d+)"', strips)[1]), 900)  # a screen
            section = re.search(r'<section id="memory">.*?</section>', page.decode(), re.S)[0]
            self.assertEqual(section.count("<code>the memory allocated at"), objects)

    def test_hostile_names_do_nothing(self):
        document, console, asked = self.browse_page(render("hostile"))
        self.assertEqual(console, [])
        self.assertEqual(asked, ["/report.html"])
        self.assertNotIn("<title>owned", document)
        self.assertEqual(Outline(document).count("img"), 0)

    def test_the_policy_holds_even_if_something_got_in(self):
        attack = b"<script>document.title='owned'</script><img src='/leak.png'></body>"
        page = render("stacked").replace(b"</body>", attack)
        document, _, asked = self.browse_page(page)
        self.assertEqual(asked, ["/report.html"])
        self.assertNotIn("<title>owned", document)
        naked = re.sub(rb"<meta http-equiv=[^>]*>", b"", page)  # and without the policy it would have worked
        document, _, asked = self.browse_page(naked)
        self.assertIn("/leak.png", asked)
        self.assertIn("<title>owned", document)

    def test_a_real_run(self):
        self.record("/usr/bin/env", "python3", "-c", "sum(i * i for i in range(3_000_000))", check=0)
        page = self.scratch / "report.html"
        subprocess.run([PLUMB, "report", self.run_directory, "--format", "html", "-o", page], check=True)
        document, console, asked = self.browse_page(page.read_bytes())
        self.assertEqual(console, [])
        self.assertEqual(asked, ["/report.html"])
        self.assertNotIn("data-error", document)
        self.assertIn("CPU time by program and library", Outline(document).text)
        if b'id="plumb-data"' not in page.read_bytes():
            return
        tree = re.search(r'<div id="chart-call-tree"[^>]*data-drawn="true".*?</figure>', document, re.S)
        self.assertTrue(tree, "the call tree was not drawn")
        widths = [float(width) for width in re.findall(r'<rect[^>]*width="([\d.]+)"', tree[0])]
        self.assertGreater(len(widths), 10)
        self.assertGreater(max(widths), 400)  # the root takes the whole width, at once
        self.assertIn("_PyEval_EvalFrameDefault", tree[0])


if __name__ == "__main__":
    unittest.main()
