"""What tests of the heap collector read from the shim's trace files."""

import collections
import pathlib

from trace_reader import Trace

WORD = (1 << 64) - 1


class HeapTrace(Trace):
    """The heap records of one process's file."""

    def __init__(self, path):
        super().__init__(path)
        self.totals, self.sites = self.of("HeapTotals"), self.of("HeapSite")
        self._nodes = {node["id"]: node for node in self.of("PathNode")}

    def total(self, field):
        return sum(totals[field] for totals in self.totals)

    def site_sum(self, field):
        return sum(site[field] for site in self.sites) & WORD

    def merged_sites(self):
        """{path: (allocations, bytes, frees, freed bytes, temporary, live at the peak)} over all threads."""
        last_epoch = max((site["peak_epoch"] for site in self.sites), default=0)
        merged = collections.defaultdict(lambda: [0] * 6)
        for site in self.sites:
            at_peak = site["peak_epoch"] == last_epoch
            peak = site["peak_live_bytes"] if at_peak else site["allocated_bytes"] - site["freed_bytes"]
            counts = [site[name] for name in ("allocations", "allocated_bytes", "frees", "freed_bytes", "temporary")]
            for i, amount in enumerate((*counts, peak)):
                merged[site["path"]][i] = merged[site["path"]][i] + amount & WORD
        return merged

    def addresses(self, path):
        """Innermost first."""
        found = []
        while path:
            found.append(self._nodes[path]["address"])
            path = self._nodes[path]["parent"]
        return found


def heap_traces(run_directory):
    """The process files of a run, in the order of their names."""
    return [HeapTrace(path) for path in sorted(pathlib.Path(run_directory).rglob("process-*.plumb"))]
