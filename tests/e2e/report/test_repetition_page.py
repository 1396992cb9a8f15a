#!/usr/bin/env python3
"""The page of plumb repeat: complete without scripts, the runs of each cause as dots in a browser, nothing fetched."""

import os
import re
import subprocess
import unittest

from page_test import CHROMIUM, BrowserTest, Outline, rows
from plumb_test import PlumbTest

MISSES, CPU = "data cache misses per thousand instructions", "the CPU of its busiest thread"


def render():
    return subprocess.run([os.environ["PLUMB_RENDER_REPORT"], "repetition", "html"], capture_output=True, check=True).stdout.decode()


class StaticPage(PlumbTest):
    def test_it_is_complete_without_scripts(self):
        page = render()
        outline = Outline(page)
        self.assertEqual([attributes["id"] for name, attributes in outline.elements if name == "section"], ["series", "variation-runs"])
        names = [row[0] for row in rows(page, "variation-runs")[1:]]
        self.assertEqual(set(names[:2]), {f"work that goes with {MISSES}", f"work that goes with {CPU}"})
        self.assertIn("Median work by it: CPU 0: ", outline.text)
        self.assertIn("pad leading dimensions", outline.text)  # the advice of the misses
        self.assertEqual(outline.count("img"), 0)
        self.assertIn("</script><img src=x>", outline.text)


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class InBrowser(BrowserTest):
    def test_each_run_is_a_dot(self):
        page = render()
        if 'id="plumb-data"' not in page:
            self.skipTest("this plumb was built without charts")
        document, console, asked = self.browse_page(page.encode())
        self.assertEqual((console, asked), ([], ["/report.html"]))
        self.assertNotIn("data-error", document)
        charts = re.findall(r'<div id="chart-variation-\d"[^>]*data-drawn="true".*?</figure>', document, re.S)
        self.assertEqual(len(charts), 2)
        titles = [re.findall(r"<title>(run \d+.*?)</title>", chart, re.S) for chart in charts]
        self.assertEqual([len(found) for found in titles], [16, 16])
        by_cpu, = [found for found in titles if "CPU" in found[0]]
        self.assertIn("run 1\nCPU 1\n3.500 s of work", by_cpu)  # 2 s, no misses, the slow CPU


if __name__ == "__main__":
    unittest.main()
