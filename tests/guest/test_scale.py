"""plumb scale on machines of one and of two nodes: the memory behind what grows, and the size of the page cache as an axis.

All memory of the emulation is equally far: no curve shows there what nodes cost. What the runs of a point say about their memory does."""

import json
import unittest

from guest_test import GuestTest, example, main
from machine import Machine, Node

HOT_TABLE = example("hot-table/hot-table-shared")
TRIAD = example("page-cache/triad")
CACHED_MIB = (50, 400)  # of files: node 0 of two has 448


def sweep(name, options, command):
    return f"$PLUMB scale --warm-up 0 -n 3 {options} -o /results/{name} --format json -- {command} >/results/{name}.json\n"


# The pages of a device stay in memory while somebody has it open; they are put where CPU 0 is.
FILL_CACHE = "echo 1 >/proc/sys/vm/drop_caches; taskset 1 dd if=/dev/nvme1n1 of=/dev/null bs=1M count={size}"
CACHE_SWEEP = ("exec 9</dev/nvme1n1\n" +
               sweep("cache", f"--size {','.join(map(str, CACHED_MIB))} --prepare '{FILL_CACHE}'", f"{TRIAD} 1 16 0 1"))


class ScaleTest(GuestTest):
    spare_disk_mib = max(CACHED_MIB)

    def growth(self, name):
        return json.loads(self.results.text(f"{name}.json"))["growth"]

    def new_findings(self, name):
        return {finding["id"]: finding["title"] for finding in self.growth(name)["new_findings"]}


class ScaleOnTwoNodes(ScaleTest):
    machine = Machine((Node(cpus=2, memory_mib=448), Node(cpus=2, memory_mib=576)), {(0, 1): 21, (1, 0): 21})
    files = (TRIAD, *([HOT_TABLE] if HOT_TABLE.exists() else []))
    job = ("echo 0 >/proc/sys/kernel/numa_balancing\n" +  # it would move what is to stay
           "export OMP_PROC_BIND=close OMP_PLACES=cores OMP_WAIT_POLICY=passive\n" +
           (sweep("table", "--threads 2,4", f"{HOT_TABLE} 4 10") if HOT_TABLE.exists() else "") +
           CACHE_SWEEP)  # last: the cache would drive the table away

    @unittest.skipUnless(HOT_TABLE.exists(), "no Fortran compiler built the hot table")
    def test_the_table_that_both_nodes_read_is_named(self):
        """Two threads are on its node; of four, two are on the other."""
        self.assertIn("`shared::a` lies on node 0 and is read by threads of node 1", self.new_findings("table").get("memory-hot-node", ""),
                      self.growth("table"))

    def test_memory_goes_elsewhere_once_the_cache_is_as_large_as_the_node(self):
        self.assertIn("Node 0 was full of cached files", self.new_findings("cache").get("page-cache-spill", ""), self.growth("cache"))


class ScaleOnOneNode(ScaleTest):
    machine = Machine((Node(cpus=2, memory_mib=768),))
    files = (TRIAD,)
    job = CACHE_SWEEP

    def test_the_size_of_the_cache_does_not_matter(self):
        self.assertNotIn("page-cache-spill", self.new_findings("cache"))


if __name__ == "__main__":
    main()
