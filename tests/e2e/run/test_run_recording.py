"""What plumb run records is true: who ran, for how long, where; whatever kind of program it is."""

import os
import shutil
import subprocess
import unittest

from plumb_test import PLUMB, PROGRAMS, PlumbTest, has_mount_namespaces, may_run_as_nobody, of_times
from recorder_trace import recorder_trace

STATIC, FOREIGN, PRIVILEGED = 2, 4, 8  # flags of ProcessSeen
CPUS_OF_A_SLOWER_RATE = 32  # with more of them the rate stays: slowing takes another event on each


def may_slow_down(trace):
    """Whether this machine lets a long run be sampled more slowly: its events belong to CPUs, which are not too many."""
    online = os.cpu_count()
    cpus = online if online <= 64 else len(os.sched_getaffinity(0))
    _, why, _ = trace.evidence()["perf-sampling"]
    return cpus <= CPUS_OF_A_SLOWER_RATE and "threads are sampled from when the recorder knows them" not in why


class Recording(PlumbTest):
    def trace(self, *command, options=(), status=0, **popen):
        self.record(*command, options=["--no-report", *options], check=status, **popen)
        return recorder_trace(self.run_directory)

    def main_of(self, trace, name):
        """(pid, flags) of the last image whose executable ends so."""
        found = [(pid, flags) for pid, executable, _, flags in trace.processes() if executable.endswith("/" + name)]
        self.assertTrue(found, f"{name} is not among {trace.processes()}")
        return found[-1]

    def used_ns(self, trace, pid):
        """CPU time of a process that plumb waited for, by the kernel's own account."""
        _, user, system = trace.gone()[pid]
        return user + system

    def check_samples(self, name, flags=0):
        trace = self.trace(PROGRAMS / name, "1")
        pid, seen_flags = self.main_of(trace, name)
        self.assertEqual(seen_flags & (STATIC | FOREIGN | PRIVILEGED), flags)
        self.assertAlmostEqual(trace.sampled_ns(pid) / self.used_ns(trace, pid), 1, delta=0.1)
        return trace

    @of_times
    def test_sampled_time_is_cpu_time(self):
        self.check_samples("burn")

    @of_times
    def test_static_program(self):
        trace = self.check_samples("burn-static", STATIC)
        self.assertEqual(trace.evidence()["shim"][0], 3)
        self.assertIn("statically linked", trace.evidence()["shim"][1])

    @unittest.skipUnless((PROGRAMS / "burn-32").exists(), "this compiler makes no 32-bit programs")
    def test_32_bit_program(self):
        done = self.record(PROGRAMS / "burn-32", "1", options=["--no-report"], check=0)
        self.assertEqual(done.stderr, "", "the loader complained about the shim")
        trace = recorder_trace(self.run_directory)
        self.assertEqual(self.main_of(trace, "burn-32")[1] & FOREIGN, FOREIGN)
        self.assertGreater(trace.sampled_ns(), 0)

    def test_set_user_id_program(self):
        program = self.scratch / "burn-as-owner"
        shutil.copy(PROGRAMS / "burn", program)
        program.chmod(0o4755)
        trace = self.trace(program, "0.3")
        self.assertEqual(self.main_of(trace, program.name)[1] & PRIVILEGED, PRIVILEGED)

    @unittest.skipUnless(may_run_as_nobody(PLUMB), "needs root to become someone else, who can reach the tool")
    def test_unreadable_program(self):
        # Executable but not readable: the kernel lets nobody look inside, which must not keep it from running.
        program = self.scratch / "secret"
        shutil.copy(PROGRAMS / "burn", program)
        program.chmod(0o711)
        self.scratch.chmod(0o777)
        done = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", PLUMB, "run", "-o",
                               self.run_directory, "--no-report", "--", program, "0.3"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        trace = recorder_trace(self.run_directory)
        self.assertTrue(trace.processes())
        self.assertIn("does not allow sampling", trace.evidence()["perf-sampling"][1])

    @of_times
    def test_children_and_their_children(self):
        trace = self.trace("sh", "-c", f"'{PROGRAMS}/burn' 0.5 & sh -c '{PROGRAMS}/burn 1; exit 0'; wait")
        burners = {pid for pid, executable, _, _ in trace.processes() if executable.endswith("/burn")}
        self.assertEqual(len(burners), 2)
        seconds = sorted(trace.sampled_ns(pid) / 1e9 for pid in burners)
        self.assertAlmostEqual(seconds[0], 0.5, delta=0.1)
        self.assertAlmostEqual(seconds[1], 1.0, delta=0.15)

    @of_times
    def test_threads(self):
        trace = self.trace(PROGRAMS / "burn", "0.5", "4")
        run = [thread["run_ns"] / 1e9 for thread in trace.threads("burn")]
        self.assertEqual(len(run), 4)
        for seconds in run:
            self.assertAlmostEqual(seconds, 0.5, delta=0.1)

    @of_times
    def test_waiting_for_a_cpu_is_seen(self):
        cpu = min(os.sched_getaffinity(0))
        trace = self.trace("taskset", "-c", cpu, PROGRAMS / "burn", "0.5", "3")
        threads = trace.threads("burn")
        self.assertEqual({thread["allowed_cpus"] for thread in threads}, {str(cpu)})
        for thread in threads:
            self.assertGreater(thread["run_delay_ns"], thread["run_ns"], "three on one CPU: each waits for two others")
        places = {interval["cpu"] for interval in trace.of("ThreadInterval")}
        self.assertEqual(places, {cpu})

    @of_times
    def test_cpu_intervals_carry_the_runs_own_time(self):
        trace = self.trace(PROGRAMS / "burn", "1")
        own = sum(interval["run_own_ns"] for interval in trace.of("CpuInterval"))
        self.assertAlmostEqual(own / 1e9, 1, delta=0.15)

    def test_number_of_records_does_not_follow_time(self):
        short = self.trace(PROGRAMS / "burn", "0.5", options=["--rate=2000"])
        first = len(short.of("PathNode"))
        shutil.rmtree(self.run_directory)
        long = self.trace(PROGRAMS / "burn", "2", options=["--rate=2000"])
        self.assertLess(len(long.of("PathNode")), 3 * first + 100)

    @of_times
    def test_budget_slows_sampling_and_keeps_its_sum(self):
        trace = self.trace(PROGRAMS / "burn", "5", options=["--rate=9000", "--budget=0.4"])
        pid = self.main_of(trace, "burn")[0]
        cost = trace.of("RecorderCost")[0]
        self.assertGreater(cost["throttled_ns"], 0)
        self.assertLess(cost["samples"] * cost["sample_period_ns"], 0.8 * self.used_ns(trace, pid), "as many samples as without a budget")
        # Right on average; one run has some hundred slices.
        self.assertAlmostEqual(trace.sampled_ns(pid) / self.used_ns(trace, pid), 1, delta=0.5)

    @of_times
    def test_a_long_run_is_sampled_more_slowly_and_keeps_its_sum(self):
        trace = self.trace(PROGRAMS / "burn", "4")
        pid = self.main_of(trace, "burn")[0]
        cost = trace.of("RecorderCost")[0]
        slowness = 4 if may_slow_down(trace) else 1
        self.assertAlmostEqual(cost["sample_period_ns"], slowness * 1e9 / 241, delta=1e5,
                               msg=f"{os.cpu_count()} CPUs, {trace.evidence()['perf-sampling']}")
        if slowness > 1:
            self.assertLess(cost["samples"], 0.9 * 4 * 241, "as many samples in each second")
        self.assertAlmostEqual(trace.sampled_ns(pid) / self.used_ns(trace, pid), 1, delta=0.1)

    @of_times
    def test_a_rate_that_was_asked_for_stays(self):
        trace = self.trace(PROGRAMS / "burn", "3", options=["--rate=241"])
        cost = trace.of("RecorderCost")[0]
        self.assertGreater(cost["samples"], 0.9 * 3 * 241)
        self.assertAlmostEqual(cost["sample_period_ns"], 1e9 / 241, delta=1e5)

    @of_times
    def test_threads_that_begin_all_the_time_keep_the_rate(self):
        """A process of 15 ms would never be sampled at the slow rate."""
        script = f"for i in $(seq 120); do {PROGRAMS}/burn 0.03; done"
        trace = self.trace("sh", "-c", script)
        cost = trace.of("RecorderCost")[0]
        self.assertAlmostEqual(cost["sample_period_ns"], 1e9 / 241, delta=1e5)

    def test_loading_the_shim_is_part_of_the_account(self):
        """Nothing inside the program can measure it: small programs with and without the shim tell, once a boot."""
        trace = self.trace("true")
        if "shim" in trace.evidence():
            self.skipTest("no shim here")
        self.assertGreater(trace.of("RecorderCost")[0]["load_cost_ns"], 0)
        self.assertLess(trace.of("RecorderCost")[0]["load_cost_ns"], 50_000_000)
        self.assertEqual(list(self.run_directory.glob("load-cost-*")), [])

    def test_output_of_a_daemon_does_not_hold_the_recorder(self):
        trace = self.trace("sh", "-c", f"setsid '{PROGRAMS}/burn' 20 </dev/null >/dev/null 2>&1 & sleep 0.3; exit 5", status=5)
        pid = self.main_of(trace, "burn")[0]
        self.assertIn("processes-left", trace.evidence())
        os.kill(pid, 9)


class WithoutPerf(PlumbTest):
    @of_times
    def test_recorded_through_proc(self):
        done = subprocess.run([PROGRAMS / "refuse", "perf", PLUMB, "run", "-o", self.run_directory, "--no-report", "--",
                               "sh", "-c", f"'{PROGRAMS}/burn' 1 2; exit 9"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (9, ""))
        trace = recorder_trace(self.run_directory)
        state, why, enable = trace.evidence()["perf-sampling"]
        self.assertEqual(state, 3)
        self.assertIn("perf_event_open", why)
        self.assertTrue(enable)
        self.assertTrue([p for p in trace.processes() if p[1].endswith("/burn")])
        run = [thread["run_ns"] for thread in trace.threads("burn")]
        self.assertEqual(len(run), 2)
        # What a thread did after the last look at it nobody saw: a tenth of a second, and much more where the recorder gets no
        # CPU beside the two threads and what else the machine does.
        self.assertGreater(sum(run) / 1e9, 2 * 0.4)
        self.assertLess(sum(run) / 1e9, 2 * 1.1)

    @unittest.skipUnless(may_run_as_nobody(PLUMB), "needs root to become someone else, who can reach the tool")
    @of_times
    def test_without_privilege_the_kernel_is_not_sampled(self):
        with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
            if int(file.read()) != 2:
                self.skipTest("perf_event_paranoid is not 2 here")
        self.scratch.chmod(0o777)
        subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", PLUMB, "run", "-o",
                        self.run_directory, "--no-report", "--", PROGRAMS / "burn", "0.5"], check=True)
        trace = recorder_trace(self.run_directory)
        self.assertEqual(trace.evidence()["perf-sampling"][0], 2)
        self.assertGreater(trace.sampled_ns(), 0.4e9)

    @unittest.skipUnless(has_mount_namespaces(), "needs to take /proc away in a namespace of its own")
    @of_times
    def test_without_proc(self):
        line = f"mount -t tmpfs none /proc && exec '{PLUMB}' run -o '{self.run_directory}' --no-report -- '{PROGRAMS}/burn' 0.5"
        done = subprocess.run(["unshare", "-m", "sh", "-c", line], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(recorder_trace(self.run_directory).sampled_ns(), 0.4e9)


if __name__ == "__main__":
    unittest.main()
