"""What tests of recording read from the recorder's trace file."""

import pathlib

from trace_reader import Trace


class RecorderTrace(Trace):
    def processes(self):
        """(pid, executable, name, flags) of each image, in the order seen."""
        return [(seen["pid"], seen["executable"] or "", seen["name"] or "", seen["flags"])
                for seen in self.of("ProcessSeen")]

    def gone(self):
        """pid -> (wait status, user ns, system ns)"""
        return {gone["pid"]: (gone["status"], gone["user_ns"], gone["system_ns"]) for gone in self.of("ProcessGone")}

    def sampled_ns(self, pid=None):
        return sum(site["time_ns"] for site in self.of("SampleSite") if pid in (None, site["pid"]))

    def threads(self, name):
        """The schedules of the threads of this name."""
        return [thread for thread in self.of("ThreadSchedule") if thread["name"] == name]


def recorder_trace(run_directory):
    files = sorted(pathlib.Path(run_directory).glob("node-*.plumb"))
    if len(files) != 1:
        raise AssertionError(f"expected one recorder's file, found {files}")
    return RecorderTrace(files[0])
