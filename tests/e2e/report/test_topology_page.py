#!/usr/bin/env python3
"""The page of plumb topo: complete without scripts, the network drawn in a browser, nothing fetched, no name breaks out."""

import json
import os
import re
import subprocess
import unittest

from page_test import CHROMIUM, BrowserTest, Outline, rows
from plumb_test import PLUMB, PlumbTest

MAKE_RUN = os.environ["PLUMB_MAKE_MPI_RUN"]
TORUS = {"schema": "plumb-topology/1", "torus": {"dimensions": [{"size": 4}, {"size": 4}, {"size": 2}], "names": "node{index:05}"}}
TREE = {"schema": "plumb-topology/1", "switches": [{"name": f"<leaf{i}>", "nodes": f"node[{8 * i:05}-{8 * i + 7:05}]",
                                                    "up": [{"to": "spine", "cables": 2}]} for i in range(3)] + [{"name": "spine"}]}
DRAGONFLY = {"schema": "plumb-topology/1", "dragonfly": {"groups": 3, "rows": 2, "columns": 4, "nodes_per_router": 1, "global_cables": 1,
                                                         "names": "node{index:05}"}}
SECTIONS = ["network", "links", "messages", "ranks", "notes"]


class TopologyPage(BrowserTest):
    def page(self, network, *options):
        run = self.scratch / "run"
        if not run.exists():
            subprocess.run([MAKE_RUN, "--ranks", "16", "--ranks-per-node", "1", "--collectives", "1", "--matrix", "halo:4x4", "--shuffle", "5", run],
                           check=True, capture_output=True)
        described = self.scratch / "network.json"
        described.write_text(json.dumps(network))
        done = subprocess.run([PLUMB, "topo", run, "--topology", described, "--format", "html", *options], capture_output=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout.decode()

    def study(self, *options):
        done = subprocess.run([PLUMB, "topo", self.scratch / "run", "--topology", self.scratch / "network.json", "--format", "json", *options],
                              capture_output=True, check=True, timeout=120)
        return json.loads(done.stdout)


class StaticPage(TopologyPage):
    def test_it_is_complete_without_scripts(self):
        page = self.page(TORUS)
        outline = Outline(page)
        self.assertEqual([attributes["id"] for name, attributes in outline.elements if name == "section"], SECTIONS)
        for part in "16 ranks on 16 nodes", "torus of 4 x 4 x 2, 32 nodes", "halo exchange on a grid of 4 x 4", "nothing was measured":
            self.assertIn(part, outline.text)
        study = self.study()
        table = {row[0]: row[1:] for row in rows(page, "ranks")[1:]}
        self.assertEqual({node: now for node, (now, _) in table.items()}, {f"node{rank:05}": str(rank) for rank in range(16)})
        self.assertEqual({node: better for node, (_, better) in table.items()},
                         {node: str(rank) for rank, node in enumerate(study["better"]["host_of_rank"])})
        self.assertLess(len(page), 500 * 1024)

    def test_names_stay_text_and_nothing_points_outside(self):
        page = self.page(TREE)
        self.assertIn("<leaf0>", Outline(page).text)
        for name, attributes in Outline(page).elements:
            self.assertNotRegex(name, "leaf")
            self.assertFalse({"src", "href", "srcset", "action"} & attributes.keys(), name)

    def test_without_a_network_there_is_no_picture(self):
        run = self.scratch / "run"
        subprocess.run([MAKE_RUN, "--ranks", "16", "--ranks-per-node", "4", "--collectives", "1", "--matrix", "halo:4x4", run], check=True,
                       capture_output=True)
        done = subprocess.run([PLUMB, "topo", run, "--format", "html"], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("network not known", Outline(done.stdout).text)
        self.assertNotIn('id="network"', done.stdout)


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class InBrowser(TopologyPage):
    def drawn(self, network):
        page = self.page(network)
        if 'id="plumb-data"' not in page:
            self.skipTest("this plumb was built without charts")
        data = json.loads(re.search(r'id="plumb-data">(.*?)</script>', page, re.S)[1])["topology"]
        document, console, asked = self.browse_page(page.encode())
        self.assertEqual((console, asked), ([], ["/report.html"]))
        self.assertNotIn("data-error", document)
        figure = re.search(r'<div id="chart-topology-network"[^>]*data-drawn="true".*?</figure>', document, re.S)
        self.assertIsNotNone(figure)
        for chart in "chart-topology-by-rank", "chart-topology-by-node":
            self.assertRegex(document, rf'<div id="{chart}"[^>]*data-drawn="true"')
        return data["picture"], figure[0]

    def test_every_place_and_every_link_that_carries_something(self):
        for network, places in (TORUS, 32), (TREE, 4), (DRAGONFLY, 24):
            with self.subTest(next(iter(network.keys() - {"schema"}))):
                picture, figure = self.drawn(network)
                self.assertEqual(len(picture["places"]), places)
                self.assertEqual(sum(own for _, _, own, _ in picture["places"]), 16)
                now, better = (sum(1 for link in picture["links"] if link[which] > 0) for which in (3, 4))
                self.assertGreater(now, 0)
                self.assertEqual(len(re.findall(r"a cable</title>", figure)), now + better)
                self.assertEqual(len(re.findall(r"<circle", figure)), 2 * places)
                self.assertNotIn("NaN", figure)

    def test_what_links_carry_is_what_the_figures_say(self):
        self.drawn(TORUS)
        study = self.study()
        picture, _ = self.drawn(TORUS)
        self.assertEqual(sum(link[3] for link in picture["links"]), study["now"]["link_bytes"])
        self.assertEqual(sum(link[4] for link in picture["links"]), study["better"]["link_bytes"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
