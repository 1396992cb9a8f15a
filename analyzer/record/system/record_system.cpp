#include "record/system/record_system.h"

#include "platform/cpu_list.h"
#include "platform/read_file.h"
#include "platform/task_stat.h"
#include "record/perf/process_table.h"
#include "record/perf/profile.h"
#include "record/perf/sampler.h"
#include "record/run/end_signals.h"
#include "record/run/job_identity.h"
#include "record/run/node_trace_writer.h"
#include "record/run/run_directory.h"
#include "record/system/kernel_messages.h"
#include "record/watch/node/node_monitor.h"
#include "record/watch/threads/thread_monitor.h"
#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <set>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kMostSystemBytes = 64u << 20, kMostBytesOfProcess = 256u << 10, kReservedSystemBytes = 1u << 30;
constexpr uint64_t kSystemTick_ns = 1'000'000'000;
// How much longer than a look into /proc took it takes until the next.
constexpr uint64_t kCostFactor = 100, kLightCostFactor = 5000;

std::vector<int> online_cpus() {
    const auto text = platform::read_file("/sys/devices/system/cpu/online");
    return text ? platform::parse_cpu_list(*text).value_or(std::vector<int>{}) : std::vector<int>{};
}

std::vector<int> cpus_to_look_at(const std::string& asked) {
    const std::vector<int> online = online_cpus();
    if (online.empty())
        throw Error("/sys/devices/system/cpu/online does not say which CPUs there are");
    if (asked == "all")
        return online;
    const auto cpus = platform::parse_cpu_list(asked);
    if (!cpus || cpus->empty())
        throw UsageError(fmt::format("--cpus {}: not a list of CPUs such as 0,2-5", asked));
    for (const int cpu : *cpus)
        if (!std::ranges::binary_search(online, cpu))
            throw UsageError(
                fmt::format("--cpus {}: CPU {} is not there; {} are", asked, cpu, platform::format_cpu_list(online)));
    return *cpus;
}

class SystemRecorder {
  public:
    SystemRecorder(const SystemOptions& options, const Options& run_options, RunDirectory& directory, std::vector<int> cpus)
        : options_(options), directory_(directory), cpus_(std::move(cpus)),
          file_(directory.new_trace_path(), kMostSystemBytes, kReservedSystemBytes, options.redact),
          processes_(file_, kMostBytesOfProcess), profile_(file_, processes_, kMostBytesOfProcess / 2),
          sampler_(kWholeMachine, run_options, ring_plan_of(cpus_)) {
        if (!options.redact) // programs and files are named there
            kernel_messages_.emplace(directory.path() + "/" + kKernelMessagesFile);
    }

    // True: a signal ended it.
    bool record(const Options& run_options);

  private:
    void begin();
    void join_all(uint64_t now_ns);
    void take(const PerfRecord& record);
    void drain(bool final);
    void tick(uint64_t now_ns, bool last);
    void show_progress(bool last) const;

    const SystemOptions& options_;
    RunDirectory& directory_;
    const std::vector<int> cpus_;
    NodeTraceWriter file_;
    ProcessTable processes_;
    Profile profile_;
    Sampler sampler_;
    std::optional<ThreadMonitor> threads_;
    std::optional<NodeMonitor> monitor_;
    std::optional<KernelMessages> kernel_messages_;
    trace::RecorderCost* cost_ = nullptr;
    uint64_t begin_ns_ = 0, lost_ = 0;
};

void SystemRecorder::begin() {
    trace::Topology topology{};
    topology.allowed_cpus = file_.string(platform::format_cpu_list(cpus_));
    topology.cpu_count = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
    file_.append(trace::RecordType::Topology, 0, topology);
    cost_ = file_.append(trace::RecordType::RecorderCost, 0, trace::RecorderCost{});
    file_.evidence("perf-sampling",
                   !sampler_.works()        ? trace::EvidenceState::missing
                   : sampler_.why().empty() ? trace::EvidenceState::ok
                                            : trace::EvidenceState::limited,
                   sampler_.why(), sampler_.enable());
    const bool has_log = kernel_messages_ && kernel_messages_->works();
    file_.evidence("kernel-log", has_log ? trace::EvidenceState::ok : trace::EvidenceState::missing,
                   has_log ? ""
                   : kernel_messages_
                       ? "what the kernel writes of split locks and killed programs is not known: " + kernel_messages_->why()
                       : "not recorded with --redact: programs and files are named there",
                   kernel_messages_ && !has_log ? "run plumb system as root, or sysctl kernel.dmesg_restrict=0" : "");
    constexpr uint64_t kFirstPidNamespace = 0xEFFFFFFC; // inode of the machine's own one, in every kernel (proc(5), namespaces)
    if (platform::read_pid_namespace("/proc", "self") != kFirstPidNamespace)
        file_.evidence("processes", trace::EvidenceState::limited,
                       "plumb runs in a PID namespace of its own (a container): programs outside are not seen, and their time is "
                       "in the sums of the CPUs alone",
                       "run plumb system outside of the container, or with the machine's PID namespace");
    begin_ns_ = monotonic_ns();
    threads_.emplace(file_, "/proc", begin_ns_);
    // Nobody is a stranger: what others would be is seen thread by thread.
    monitor_.emplace(
        file_, "/proc", "/sys", begin_ns_, cpus_, [](uint32_t) { return true; }, [] { return std::set<uint32_t>(); });
    join_all(begin_ns_);
    monitor_->read(monotonic_ns(), {}, own_cpu_ns(), false);
}

// Processes and threads that there are, of which nothing is known yet.
void SystemRecorder::join_all(uint64_t now_ns) {
    for (const uint32_t pid : platform::list_processes("/proc"))
        if (processes_.find_or_read(pid))
            for (const uint32_t tid : platform::list_threads("/proc", pid))
                threads_->join(pid, tid, now_ns);
}

void SystemRecorder::take(const PerfRecord& record) {
    if (record.kind == PerfKind::switched || record.pid == 0) // 0: the idle task
        return;
    processes_.take(record);
    if (record.kind == PerfKind::sample)
        threads_->join(record.pid, record.tid, record.time_ns); // its beginning was lost
    const uint64_t weight_ns = sampler_.weight_ns(record);
    threads_->take(record, weight_ns);
    if (record.kind == PerfKind::sample)
        profile_.take(record, weight_ns);
}

void SystemRecorder::drain(bool final) {
    if (sampler_.works())
        lost_ += sampler_.drain([this](const PerfRecord& record) { take(record); }, final);
    for (const uint32_t pid : processes_.take_gone())
        profile_.forget(pid);
}

void SystemRecorder::tick(uint64_t now_ns, bool last) {
    if (!sampler_.works()) {
        processes_.discover(now_ns, ProcessTable::Whom::everybody);
        join_all(now_ns);
    }
    if (kernel_messages_)
        kernel_messages_->take();
    threads_->read(now_ns, !sampler_.works());
    monitor_->read(now_ns, threads_->take_run_by_cpu(), own_cpu_ns(), last);
    if (!cost_)
        return;
    update(cost_->cpu_ns, own_cpu_ns());
    update(cost_->samples, profile_.samples());
    update(cost_->lost_samples, std::max(lost_, sampler_.works() ? sampler_.lost() : 0));
    update(cost_->sample_period_ns, sampler_.works() ? sampler_.period_ns() : 0);
}

void SystemRecorder::show_progress(bool last) const {
    if (options_.progress)
        fmt::print(stderr, "\rrecording: {} of {} s{}", std::min(monotonic_ns() - begin_ns_, options_.time_ns) / 1'000'000'000,
                   (options_.time_ns + 999'999'999) / 1'000'000'000, last ? "\r\033[K" : "");
}

bool SystemRecorder::record(const Options& run_options) {
    const EndSignals signals;
    begin();
    directory_.begin(run_options, begin_ns_, realtime_ns());
    const uint64_t end_ns = begin_ns_ + options_.time_ns;
    uint64_t tick_ns = begin_ns_ + kSystemTick_ns;
    std::vector<pollfd> polled{{signals.fd(), POLLIN, 0}};
    for (const PerfRing& ring : sampler_.rings())
        polled.push_back({ring.fd(), POLLIN, 0});
    bool ended_early = false;
    while (!ended_early) {
        const uint64_t now_ns = monotonic_ns();
        if (now_ns >= end_ns)
            break;
        const uint64_t left_ns = std::min(tick_ns, end_ns) - std::min(std::min(tick_ns, end_ns), now_ns);
        const timespec timeout{static_cast<time_t>(left_ns / 1'000'000'000), static_cast<long>(left_ns % 1'000'000'000)};
        const int ready = ppoll(polled.data(), polled.size(), &timeout, nullptr);
        if (ready < 0 && errno != EINTR)
            throw Error(fmt::format("cannot wait for the end of the recording: {}", std::strerror(errno)));
        ended_early = ready > 0 && polled[0].revents != 0;
        drain(false);
        if (const uint64_t awake_ns = monotonic_ns(); awake_ns >= tick_ns) {
            const uint64_t cpu_ns = own_cpu_ns();
            tick(awake_ns, false);
            tick_ns = awake_ns +
                      std::max(kSystemTick_ns, (own_cpu_ns() - cpu_ns) * (options_.is_light ? kLightCostFactor : kCostFactor));
            show_progress(false);
        }
    }
    show_progress(true);
    drain(true);
    tick(monotonic_ns(), true);
    file_.close();
    return ended_early;
}

} // namespace

SystemOutcome record_system(const SystemOptions& options) {
    std::vector<int> cpus = cpus_to_look_at(options.cpus);
    Options run_options;
    run_options.command = options.command;
    run_options.name = "system";
    run_options.run_directory = options.run_directory;
    run_options.force = options.force;
    run_options.redact = options.redact;
    run_options.rate_hz = options.rate_hz;
    run_options.rate_is_fixed = true;
    run_options.call_graph = CallGraph::frame_pointers; // stacks of everybody's processes would be copied otherwise
    run_options.without = {"wait"};
    run_options.is_of_machine = true;
    run_options.follows_mappings = !options.is_light;
    RunDirectory directory(run_options, JobIdentity{});
    SystemOutcome outcome;
    try {
        SystemRecorder recorder(options, run_options, directory, std::move(cpus));
        outcome.ended_early = recorder.record(run_options);
    } catch (...) {
        directory.discard();
        throw;
    }
    outcome.run_directory = directory.path();
    directory.end(monotonic_ns(), 0);
    return outcome;
}

} // namespace plumb::record
