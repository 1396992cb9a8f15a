#include "record/noise/measure_noise.h"

#include "platform/cpu_list.h"
#include "record/noise/measured_cpus.h"
#include "record/noise/node_noise.h"
#include "record/run/end_signals.h"
#include "record/run/job_identity.h"
#include "record/run/run_directory.h"
#include "record/watch/node/node_monitor.h"
#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kMostNoiseBytes = 64u << 20;
constexpr uint64_t kMonitorEvery_ns = 2'000'000'000, kLastMoment_ns = 50'000'000;

void show_progress(const NoiseOptions& options, uint64_t passed_ns, bool last) {
    if (options.progress)
        fmt::print(stderr, "\rmeasuring: {} of {} s{}", std::min(passed_ns, options.time_ns) / 1'000'000'000,
                   (options.time_ns + 999'999'999) / 1'000'000'000, last ? "\r\033[K" : "");
}

void write_machine(NodeTraceWriter& file, const std::vector<int>& cpus) {
    trace::Topology topology{};
    topology.allowed_cpus = file.string(platform::format_cpu_list(cpus));
    topology.cpu_count = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
    file.append(trace::RecordType::Topology, 0, topology);
}

// True: a signal ended it.
bool watch(NodeNoise& noise, const NoiseOptions& options, NodeMonitor& monitor, int signals) {
    std::vector<pollfd> polled{{signals, POLLIN, 0}};
    for (const int fd : noise.wake_fds())
        polled.push_back({fd, POLLIN, 0});
    const uint64_t end_ns = noise.begin_ns() + options.time_ns;
    uint64_t next_ns = noise.begin_ns() + 100'000'000, monitor_ns = noise.begin_ns() + kMonitorEvery_ns;
    while (true) {
        const uint64_t now_ns = monotonic_ns(), until_ns = std::min(next_ns, end_ns);
        const uint64_t left_ns = until_ns > now_ns ? until_ns - now_ns : 0;
        const timespec timeout{static_cast<time_t>(left_ns / 1'000'000'000), static_cast<long>(left_ns % 1'000'000'000)};
        noise.sleeps();
        const int ready = ppoll(polled.data(), polled.size(), &timeout, nullptr);
        noise.awoke();
        if (ready < 0 && errno != EINTR)
            throw Error(fmt::format("cannot wait for the end of the measurement: {}", std::strerror(errno)));
        if (ready > 0 && polled[0].revents)
            return true;
        for (pollfd& one : polled)
            if (one.revents & (POLLHUP | POLLERR))
                one.fd = -1;
        const uint64_t awake_ns = monotonic_ns();
        if (awake_ns >= end_ns)
            return false;
        next_ns = noise.round();
        if (awake_ns >= monitor_ns && end_ns - awake_ns > kLastMoment_ns) {
            monitor.read(awake_ns, {}, own_cpu_ns(), false);
            monitor_ns = awake_ns + std::max(kMonitorEvery_ns, (awake_ns - noise.begin_ns()) / 16);
        }
        show_progress(options, awake_ns - noise.begin_ns(), false);
    }
}

bool measure_node(const NoiseOptions& options, const Options& run_options, RunDirectory& directory, const std::vector<int>& cpus) {
    const EndSignals signals;
    NodeTraceWriter file(directory.new_trace_path(), kMostNoiseBytes, kMostNoiseBytes, options.redact);
    write_machine(file, cpus);
    NodeNoise noise(options, cpus, "/proc");
    NodeMonitor monitor(file, "/proc", "/sys", monotonic_ns(), cpus, [](uint32_t pid) { return pid == static_cast<uint32_t>(getpid()); },
                        [&directory] { return directory.recorders(); });
    monitor.read(monotonic_ns(), {}, own_cpu_ns(), false);
    directory.begin(run_options, monotonic_ns(), realtime_ns());
    noise.begin();
    const bool ended_early = watch(noise, options, monitor, signals.fd());
    noise.end();
    show_progress(options, options.time_ns, true);
    monitor.read(monotonic_ns(), {}, own_cpu_ns(), true);
    noise.write(file);
    trace::RecorderCost cost{};
    cost.cpu_ns = thread_cpu_ns();
    file.append(trace::RecordType::RecorderCost, 0, cost);
    file.close();
    return ended_early;
}

} // namespace

NoiseOutcome measure_noise(const NoiseOptions& options) {
    const JobIdentity job = JobIdentity::from_environment();
    const std::vector<int> cpus =
        measured_cpus(options.cpus, usable_cpus(job.rank_count > 1), static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)));
    if (cpus.empty())
        throw Error("the kernel does not say which CPUs this process may use; name them with --cpus");
    Options run_options;
    run_options.command = options.command;
    run_options.name = "noise";
    run_options.run_directory = options.run_directory;
    run_options.force = options.force;
    run_options.redact = options.redact;
    RunDirectory directory(run_options, job);
    NoiseOutcome outcome;
    try {
        if (directory.claim_node_once())
            outcome.ended_early = measure_node(options, run_options, directory, cpus);
        else
            directory.begin(run_options, monotonic_ns(), realtime_ns());
    } catch (...) {
        directory.begin_unrecorded(run_options, monotonic_ns(), realtime_ns());
        throw;
    }
    outcome.run_directory = directory.path();
    outcome.last = directory.end(monotonic_ns(), 0).last;
    return outcome;
}

} // namespace plumb::record
