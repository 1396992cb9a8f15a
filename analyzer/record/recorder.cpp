#include "record/recorder.h"

#include "platform/cpu_list.h"
#include "platform/memory_counters.h"
#include "platform/redaction.h"
#include "platform/split_lock_setting.h"
#include "platform/task_stat.h"
#include "platform/topology.h"
#include "record/access/access_watch.h"
#include "record/calibrate/access_penalties.h"
#include "record/calibrate/calibration.h"
#include "record/calibrate/known_topology.h"
#include "record/perf/event_counts.h"
#include "record/perf/process_table.h"
#include "record/perf/profile.h"
#include "record/perf/sampler.h"
#include "record/run/abandoned_files.h"
#include "record/run/child.h"
#include "record/run/crash_guard.h"
#include "record/run/executable.h"
#include "record/run/node_trace_writer.h"
#include "record/run/overhead_governor.h"
#include "record/run/run_directory.h"
#include "record/run/signals.h"
#include "record/run/target_environment.h"
#include "record/run/unrecorded.h"
#include "record/watch/blocked_threads.h"
#include "record/watch/memory_watch.h"
#include "record/watch/node_monitor.h"
#include "record/watch/thread_monitor.h"
#include "support/error.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kMillisecond = 1'000'000;
constexpr uint64_t kMostBytesEach = 8u << 20; // of the recorder's file, for one process of the target
constexpr uint64_t kReservedBytes = 1u << 30;
constexpr uint64_t kShortestTick = 100 * kMillisecond, kLongestTick = 1000 * kMillisecond;
constexpr double kTickShare = 0.25; // of the budget: the rest is for samples
constexpr double kWaitShare = 0.15; // likewise, for looks at blocked threads
constexpr uint64_t kCalibrationAge = 1'000'000'000; // before, it is not looked whether sampling costs too much

uint64_t to_ns(const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_usec) * 1000;
}

class Recorder {
  public:
    Recorder(const Options& options, const JobIdentity& job)
        : options_(options), recorders_(static_cast<size_t>(std::max(job.local_count, 1))),
          has_other_ranks_(job.rank_count > 1),
          inheritance_(Inheritance::now()), directory_(options, job), governor_(options.budget_percent / 100) {}

    // Throws before the program starts, never afterwards.
    Outcome run();

  private:
    void prepare();
    void launch();
    void begin_watching();
    void count_unrecorded() noexcept;
    void wait_unrecorded() noexcept;
    void note_problem(const char* what) noexcept;
    void watch_node();
    void begin_node(uint64_t begin_ns, const std::string& allowed);
    void take_node_over(uint64_t now_ns);
    void watch();
    bool reap();
    void drain(bool final);
    uint64_t tick(bool last);
    bool is_withheld();
    void keep_budget(uint64_t now_ns);
    void find_sample_cost();
    void count_events();
    void write_memory_counters();
    void calibrate();
    void finish();
    void say_what_is_left();
    void say_what_was_not_sampled();

    const Options& options_;
    const size_t recorders_; // on this node, of this job: they share the memory that the user may lock
    const bool has_other_ranks_;
    const Inheritance inheritance_;
    RunDirectory directory_;
    OverheadGovernor governor_;
    Calibration calibration_{platform::MachineCache::of_this_machine()};
    std::optional<NodeTraceWriter> file_;
    std::optional<ProcessTable> processes_;
    std::optional<Profile> profile_;
    std::optional<AccessWatch> accesses_; // where there are samples
    std::unique_ptr<MemoryWatch> memory_; // where it has more than one place
    platform::MemoryCounters memory_counters_; // before the program ran
    std::optional<EventCounts> events_;
    std::optional<ThreadMonitor> threads_;
    std::optional<BlockedThreads> blocked_;
    std::optional<NodeMonitor> node_;
    std::optional<Child> child_;
    std::optional<Sampler> sampler_;
    std::optional<SignalForwarder> signals_;
    trace::RecorderCost* cost_ = nullptr;
    uint64_t begin_ns_ = 0, start_up_ns_ = 0, drained_ns_ = 0, lost_ = 0, sample_cost_ns_ = 0, last_look_ns_ = 0;
    uint64_t asked_for_node_ns_ = 0;
    pid_t stop_watcher_ = 0;
    bool withheld_ = false;
    bool wants_samples_ = false, samples_ = false;
    bool has_ended_ = false; // the program, and wait_status_ says how
    int wait_status_ = 0;
    rusage usage_{};
    std::string problem_;
};

// All that can fail before the program starts.
void Recorder::prepare() {
    const Executable executable = find_executable(options_.command[0]);
    wants_samples_ = options_.collects("sample");
    const TargetEnvironment usual = target_environment(options_, executable, directory_.path(), true);
    const TargetEnvironment without_perf = target_environment(options_, executable, directory_.path(), false);
    write_align_ranges(options_, directory_.path());
    signals_.emplace(); // from here on a limit of the file size is an error, not a deadly signal
    file_.emplace(directory_.new_trace_path(), kMostBytesEach, kReservedBytes, options_.redact);
    if (!options_.swept.empty())
        file_->evidence("sweep", trace::EvidenceState::ok, options_.swept, "");
    processes_.emplace(*file_, kMostBytesEach);
    profile_.emplace(*file_, *processes_, kMostBytesEach / 2);
    child_.emplace(options_.command, usual.variables, without_perf.variables, inheritance_);
    if (options_.prepare_child)
        options_.prepare_child(child_->pid());
    if (wants_samples_)
        sampler_.emplace(child_->pid(), options_, recorders_);
    count_events();
    samples_ = sampler_ && sampler_->works();
    if (samples_ && options_.collects("memory"))
        memory_ = MemoryWatch::begin(*file_, *processes_, *profile_, child_->pid(), sampler_->cpus());

    std::string command_line;
    for (const std::string& word : options_.command)
        command_line += (command_line.empty() ? "" : std::string(1, '\0')) + word;
    processes_->launch(child_->pid(), getpid(), command_line);
    cost_ = file_->append(trace::RecordType::RecorderCost, 0, trace::RecorderCost{});
    if (!usual.why_no_shim.empty())
        file_->evidence("shim", trace::EvidenceState::missing, usual.why_no_shim, usual.enable, child_->pid());
    if (sampler_)
        file_->evidence("perf-sampling",
                        !samples_                   ? trace::EvidenceState::missing
                        : sampler_->why().empty()   ? trace::EvidenceState::ok
                                                    : trace::EvidenceState::limited,
                        sampler_->why(), sampler_->enable());
    memory_counters_ = platform::read_memory_counters("");
    begin_ns_ = monotonic_ns();
    directory_.begin(options_, begin_ns_, realtime_ns());
}

void Recorder::launch() {
    CrashGuard::program_runs(signals_->fd());
    const int error = child_->release(samples_ || !wants_samples_ ? Child::Choice::usual : Child::Choice::other);
    if (error != 0) {
        const ExecFailure failure = explain_exec_failure(options_.command[0], error);
        throw Error(failure.text, failure.exit_status);
    }
    start_up_ns_ = monotonic_ns() - begin_ns_;
}

void Recorder::begin_watching() {
    threads_.emplace(*file_, "/proc", begin_ns_);
    if (options_.collects("wait") && unwind::StackUnwinder::works())
        blocked_.emplace(*file_, *processes_, *profile_, "/proc", options_.budget_percent / 100 * kWaitShare,
                         kMostBytesEach / 8, static_cast<uint32_t>(child_->pid()), begin_ns_);
    if (samples_) // loads the decoder, which the program need not wait for
        accesses_.emplace(*file_, *processes_, profile_->images(), options_.budget_percent / 100,
                          options_.collects("bandwidth"), begin_ns_);
    if (memory_ && !accesses_->works())
        memory_->do_without_accesses(accesses_->why());
    if (sampler_ && !samples_)
        file_->evidence("address-sampling", trace::EvidenceState::missing,
                        "the registers of time samples come from perf events, which do not work here",
                        sampler_->enable());
}

// What the node does is watched by one recorder a node. Not before the program runs: the first look takes longer
// than all else at the start.
void Recorder::watch_node() {
    asked_for_node_ns_ = monotonic_ns();
    const auto own = platform::read_task_status("/proc", getpid(), getpid());
    const std::string allowed = own ? own->allowed_cpus : "";
    trace::Topology topology{};
    topology.allowed_cpus = file_->string(allowed);
    topology.cpu_count = static_cast<uint32_t>(sysconf(_SC_NPROCESSORS_ONLN));
    const bool watches = directory_.claim_node();
    std::string xml;
    if (watches)
        xml = known_topology_xml(calibration_.cache(), topology_conditions("", allowed), platform::live_topology_xml);
    if (options_.redact)
        xml = platform::without_infos(std::move(xml));
    constexpr size_t kPart = 64000; // below the longest string of the format
    for (size_t at = 0; at < xml.size(); at += kPart, ++topology.xml_parts) {
        const trace::StringId part = file_->new_string(std::string_view(xml).substr(at, kPart));
        topology.xml = topology.xml_parts == 0 ? part : topology.xml;
    }
    file_->append(trace::RecordType::Topology, 0, topology);
    if (watches && !directory_.why_no_locks().empty())
        file_->evidence("run-directory", trace::EvidenceState::limited,
                        directory_.why_no_locks() + "; the recorders of this run coordinated by creating files instead",
                        "record into a file system with locks (Lustre: mounted with flock)");
    if (watches) {
        begin_node(begin_ns_, allowed);
        if (memory_)
            node_->begin_with(memory_->before(), memory_->before_ns());
    }
}

void Recorder::begin_node(uint64_t begin_ns, const std::string& allowed) {
    node_.emplace(*file_, "/proc", "/sys", begin_ns, platform::parse_cpu_list(allowed).value_or(std::vector<int>{}),
                  [this](uint32_t pid) { return processes_->was_seen(pid); },
                  [this] { return directory_.recorders(); });
}

// The recorder that watched the node may end, or be killed, before this one's program does.
void Recorder::take_node_over(uint64_t now_ns) {
    constexpr uint64_t kAskEvery = 1'000'000'000;
    if (node_ || now_ns - asked_for_node_ns_ < kAskEvery)
        return;
    asked_for_node_ns_ = now_ns;
    if (!has_other_ranks_ || !directory_.claim_node())
        return;
    memory_counters_ = platform::read_memory_counters(""); // what was before is that one's to write
    const auto own = platform::read_task_status("/proc", getpid(), getpid());
    begin_node(now_ns, own ? own->allowed_cpus : "");
}

void Recorder::drain(bool final) {
    drained_ns_ = final ? UINT64_MAX : monotonic_ns();
    if (sampler_ && sampler_->works())
        lost_ += sampler_->drain(
            [&](const PerfRecord& record) {
                processes_->take(record);
                const uint64_t weight_ns = sampler_->period_ns() * governor_.weight();
                threads_->take(record, weight_ns);
                if (record.kind != PerfKind::sample)
                    return;
                const trace::NodeId path = profile_->take(record, weight_ns);
                if (blocked_)
                    blocked_->saw(record.tid, path, record.time_ns);
                const auto access = accesses_ ? accesses_->take(record, path, weight_ns) : std::nullopt;
                if (access && memory_)
                    memory_->take(*access, path);
            },
            final);
    const std::vector<uint32_t> gone = processes_->take_gone();
    if (memory_)
        memory_->settle(final || !gone.empty(), final);
    for (const uint32_t pid : gone) {
        profile_->forget(pid);
        if (blocked_)
            blocked_->forget(pid);
        if (accesses_)
            accesses_->forget(pid);
        if (memory_)
            memory_->forget(pid);
    }
}

void Recorder::keep_budget(uint64_t now_ns) {
    constexpr uint64_t kLookEvery = 1'000'000'000;
    if (!sampler_ || !sampler_->can_pause() || now_ns - begin_ns_ < kCalibrationAge || now_ns - last_look_ns_ < kLookEvery)
        return;
    last_look_ns_ = now_ns;
    find_sample_cost();
    const bool was_throttling = governor_.is_throttling();
    const uint64_t samples = profile_->samples() + (accesses_ ? accesses_->burst_samples() : 0);
    governor_.look(now_ns, own_cpu_ns() + samples * sample_cost_ns_, threads_->total_run_ns());
    if (was_throttling && !governor_.is_throttling())
        sampler_->enable(true);
}

// Before the program has ended this is needed only where sampling can be paused.
void Recorder::find_sample_cost() {
    if (sample_cost_ns_ > 0 || !sampler_ || !sampler_->works() || profile_->samples() == 0)
        return;
    calibration_.run_took(threads_->total_run_ns());
    sample_cost_ns_ = calibration_.sample_cost_ns(sampler_->attributes());
}

// A program that we may execute but not read, or that runs with more privileges than we have, takes the events off
// itself: the kernel then reports not even its exec.
bool Recorder::is_withheld() {
    if (withheld_)
        return true;
    const Process* first = processes_->find(child_->pid());
    // The record of the exec may lie in the ring still, as the youngest do, or have found no room there.
    constexpr uint64_t kSettled = 100 * kMillisecond; // on a busy machine
    const bool has_come = drained_ns_ > begin_ns_ + start_up_ns_ + kSettled && lost_ == 0 && sampler_->lost() == 0;
    withheld_ = has_come && profile_->samples() == 0 && first && !first->seen_written;
    if (withheld_)
        file_->evidence("perf-sampling", trace::EvidenceState::missing,
                        "the kernel does not allow sampling of '" + options_.command[0] +
                            "': it cannot be read, or runs with other privileges",
                        "make the program readable, or run plumb with the program's privileges");
    return withheld_;
}

// Everything that is read at intervals. Returns when the next tick is due.
uint64_t Recorder::tick(bool last) {
    const uint64_t now = monotonic_ns(), cpu_before = own_cpu_ns();
    const bool is_sampled = sampler_ && sampler_->works() && !is_withheld();
    const bool has_perf = is_sampled && !sampler_->is_per_thread();
    if (!has_perf) { // else the kernel's records bring every process and thread
        processes_->discover(now);
        for (const uint32_t pid : processes_->living())
            threads_->add(pid, pid, now);
    }
    if (is_sampled && !last)
        sampler_->look(processes_->living());
    threads_->read(now, !has_perf);
    if (!last)
        take_node_over(now);
    if (node_)
        node_->read(now, threads_->take_run_by_cpu(), cpu_before, last);
    if (accesses_ && !last)
        accesses_->look(now);
    const uint64_t tick_cost_ns = own_cpu_ns() - cpu_before;
    keep_budget(now);
    if (cost_) {
        update(cost_->sample_cost_ns, sample_cost_ns_);
        update(cost_->throttled_ns, sampler_ && sampler_->can_pause() ? governor_.throttled_ns() : 0);
        update(cost_->cpu_ns, own_cpu_ns());
        // Samples of bursts cost the program as much as the others.
        update(cost_->samples, profile_->samples() + (accesses_ ? accesses_->burst_samples() : 0));
        update(cost_->lost_samples, sampler_ ? std::max(lost_, sampler_->lost()) : lost_);
        update(cost_->start_up_ns, start_up_ns_);
        if (sampler_)
            update(cost_->sample_period_ns, sampler_->period_ns());
    }
    const uint64_t wanted = std::clamp((now - begin_ns_) / 64, kShortestTick, kLongestTick);
    const double factor = 100 / (options_.budget_percent * kTickShare);
    const auto affordable = static_cast<uint64_t>(static_cast<double>(tick_cost_ns) * factor);
    // However small the budget, it is looked after once in a while.
    return now + std::clamp(affordable, wanted, kLongestTick);
}

// True when the target has ended.
bool Recorder::reap() {
    int status = 0;
    pid_t pid = 0;
    siginfo_t ended{};
    if (waitid(P_PID, child_->pid(), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid != 0) {
        // It is a zombie: its last counts can still be read.
        threads_->read_last(child_->pid(), monotonic_ns());
        drain(false);
    }
    while ((pid = wait4(child_->pid(), &status, WNOHANG | WUNTRACED | WCONTINUED, &usage_)) > 0) {
        if (WIFSTOPPED(status)) {
            // Whoever started plumb sees it stop as it would see the program stop. Continuing plumb continues the
            // program: the signal is read and sent on.
            drain(false);
            stop_watcher_ = stop_with(child_->pid());
        } else if (!WIFCONTINUED(status)) {
            wait_status_ = status;
            CrashGuard::program_ended(exit_status_of(status));
            return has_ended_ = true;
        }
    }
    return has_ended_ = pid < 0 && errno == ECHILD;
}

// The program is about to run without this recorder.
void Recorder::count_unrecorded() noexcept {
    try {
        directory_.begin_unrecorded(options_, monotonic_ns(), realtime_ns());
    } catch (...) {} // what failed first is what is said
}

// The rest of the program after the recording has failed: nothing that can fail is done for it any more.
void Recorder::wait_unrecorded() noexcept {
    while (!has_ended_) {
        pollfd polled{signals_->fd(), POLLIN, 0};
        poll(&polled, 1, -1);
        signals_->forward_to(child_->pid(), stop_watcher_);
        int status = 0;
        pid_t pid = 0;
        while ((pid = wait4(child_->pid(), &status, WNOHANG | WUNTRACED | WCONTINUED, &usage_)) > 0) {
            if (WIFSTOPPED(status)) {
                stop_watcher_ = stop_with(child_->pid());
            } else if (!WIFCONTINUED(status)) {
                wait_status_ = status;
                CrashGuard::program_ended(exit_status_of(status));
                has_ended_ = true;
            }
        }
        has_ended_ |= pid < 0 && errno == ECHILD;
    }
}

void Recorder::note_problem(const char* what) noexcept {
    try {
        problem_ = what;
    } catch (...) { // no memory for the words
        problem_ = "no memory"; // short enough to need none
    }
}

void Recorder::watch() {
    std::vector<pollfd> polled;
    uint64_t polled_version = 0;
    const auto poll_all = [&] {
        polled = {{signals_->fd(), POLLIN, 0}};
        if (sampler_)
            for (const PerfRing& ring : sampler_->rings())
                polled.push_back({ring.fd(), POLLIN, 0});
        if (memory_)
            for (const PerfRing& ring : memory_->rings())
                polled.push_back({ring.fd(), POLLIN, 0});
        polled_version = sampler_ ? sampler_->rings_version() : 0;
    };
    poll_all();
    watch_node();
    uint64_t next_tick = begin_ns_ + kShortestTick / 4;
    while (true) {
        const uint64_t now = monotonic_ns();
        const uint64_t next = std::min({next_tick, memory_ ? memory_->next_look_ns() : UINT64_MAX,
                                        accesses_ ? accesses_->next_burst_ns() : UINT64_MAX,
                                        blocked_ ? blocked_->next_look_ns() : UINT64_MAX});
        uint64_t left = next > now ? next - now : 0;
        if (governor_.is_throttling() && sampler_->enable(governor_.wants_slice()))
            left = std::min(left, OverheadGovernor::kSlice_ns);
        if (sampler_ && sampler_->rings_version() != polled_version)
            poll_all();
        const timespec timeout{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
        const int ready = ppoll(polled.data(), polled.size(), &timeout, nullptr);
        if (ready > 0 && (polled[0].revents & POLLIN) && signals_->forward_to(child_->pid(), stop_watcher_) && reap())
            return;
        // A ring whose last task has ended reports a hang-up for ever.
        for (size_t i = 1; i < polled.size(); ++i)
            if (polled[i].revents & (POLLHUP | POLLERR))
                polled[i].fd = -1;
        const bool is_due = monotonic_ns() >= next_tick;
        const bool burst_is_due = accesses_ && accesses_->burst_is_due(monotonic_ns());
        if (ready > 0 || is_due || burst_is_due)
            drain(false);
        if (burst_is_due)
            accesses_->look_at_burst(monotonic_ns());
        if (memory_)
            memory_->look_at_footprints(monotonic_ns());
        if (blocked_ && monotonic_ns() >= blocked_->next_look_ns()) {
            drain(false); // of threads that began, and of what the holders of locks do
            blocked_->look(monotonic_ns(), threads_->tasks());
        }
        if (is_due)
            next_tick = tick(false);
    }
}

// The CPU's counters may be in use by the program itself, so they are taken on request alone.
void Recorder::count_events() {
    std::vector<CountedEvent> wanted = kernel_events();
    if (options_.collects("counters"))
        for (CountedEvent& event : unaligned_cpu_events(""))
            wanted.push_back(std::move(event));
    if (!wanted.empty() || options_.collects("counters"))
        events_.emplace(child_->pid(), wanted);
}

// What the kernel counted on the whole machine. Names are those of platform/memory_counters.h, marked, and the process is 0.
void Recorder::write_memory_counters() {
    if (!node_) // another recorder of this node does it
        return;
    for (const auto& [name, count] : platform::difference(memory_counters_, platform::read_memory_counters(""))) {
        trace::EventCount record{};
        record.name = file_->string("memory:" + name);
        record.count = count;
        file_->append(trace::RecordType::EventCount, 0, record);
    }
}

// What unaligned accesses cost here, for runs that have made some. The program has ended: nobody waits but the report.
void Recorder::calibrate() {
    const CalibrationNeed need = options_.align == "off" ? CalibrationNeed{} : calibration_need(directory_.path());
    const bool sampled = accesses_ && accesses_->saw_line_crossings();
    if (!need.unaligned && !sampled)
        return;
    trace::AccessPenalty penalty = measure_access_penalties(need.locked);
    penalty.split_lock_setting = file_->string(platform::read_split_lock_setting("").text);
    file_->append(trace::RecordType::AccessPenalty, 0, penalty);
}

// The run ends with the program, as it does for whoever waits for it; what it left running is not recorded further.
void Recorder::say_what_is_left() {
    std::string names;
    size_t count = 0;
    for (const uint32_t pid : processes_->living()) {
        const auto stat = platform::read_process_stat("/proc", pid);
        if (pid == static_cast<uint32_t>(child_->pid()) || !stat || stat->state == 'Z')
            continue;
        if (++count <= 5)
            names += (names.empty() ? "" : ", ") + stat->name + " (" + std::to_string(pid) + ")";
    }
    if (count > 0)
        file_->evidence("processes-left", trace::EvidenceState::limited,
                        std::to_string(count) + " processes continued after the program ended, and were recorded only until "
                                                "then: " + names + (count > 5 ? ", ..." : ""),
                        "run the program in the foreground (many daemons have an option for that)");
}

// Where not everything could be sampled that ran.
void Recorder::say_what_was_not_sampled() {
    if (!samples_)
        return;
    if (const uint64_t refused = sampler_->refused_threads())
        file_->evidence("perf-sampling", trace::EvidenceState::limited,
                        std::to_string(refused) + " threads were not sampled: no memory or descriptor was left for their rings",
                        "ulimit -l and ulimit -n, or sysctl kernel.perf_event_mlock_kb: larger");
    std::vector<int> elsewhere;
    if (!sampler_->is_per_thread())
        std::ranges::set_difference(threads_->cpus(), sampler_->cpus(), std::back_inserter(elsewhere));
    if (!elsewhere.empty())
        file_->evidence("perf-sampling", trace::EvidenceState::limited,
                        "threads ran on CPUs that the program was not allowed to use when it began, and were not sampled there: " +
                            platform::format_cpu_list(elsewhere),
                        "let the program begin with all CPUs that it is to use");
}

void Recorder::finish() {
    const uint64_t end_ns = monotonic_ns();
    drain(true);
    find_sample_cost();
    tick(true);
    write_memory_counters();
    if (accesses_)
        accesses_->write_evidence(*file_);
    if (memory_)
        memory_->write_evidence();
    if (blocked_)
        blocked_->write_evidence();
    if (events_)
        events_->write(*file_);
    calibrate();
    if (accesses_)
        accesses_->write(*file_, directory_.recorders().size(), calibration_);
    say_what_is_left();
    say_what_was_not_sampled();
    processes_->gone(child_->pid(), end_ns, wait_status_, to_ns(usage_.ru_utime), to_ns(usage_.ru_stime),
                     static_cast<uint64_t>(usage_.ru_maxrss) * 1024);
    calibration_.save();
    free_abandoned_space(directory_.path());
    if (cost_) // what followed the last tick
        update(cost_->cpu_ns, own_cpu_ns());
    file_->close();
}

Outcome Recorder::run() {
    try {
        prepare();
        launch();
    } catch (const Error& error) {
        child_.reset(); // it never became the program
        if (error.exit_status() == Error::kToolFailed)
            count_unrecorded();
        else
            directory_.discard();
        throw;
    } catch (...) {
        child_.reset();
        count_unrecorded();
        throw;
    }
    const auto attempt = [this](auto action) noexcept {
        try {
            action();
            return true;
        } catch (const std::exception& error) {
            note_problem(error.what());
        } catch (...) {
            note_problem("unknown");
        }
        return false;
    };
    const bool watched = attempt([&] {
        begin_watching();
        watch();
    });
    wait_unrecorded();
    Outcome outcome;
    outcome.exit_status = exit_status_of(wait_status_);
    if (watched)
        attempt([&] { finish(); });
    if (options_.redact)
        remove_align_ranges(directory_.path());
    if (file_)
        outcome.private_paths = file_->private_paths();
    attempt([&] {
        outcome.run_directory = directory_.path();
        const RunDirectory::Ended ended = directory_.end(monotonic_ns(), outcome.exit_status);
        outcome.last = ended.last;
        outcome.first_failure = ended.first_failure;
    });
    outcome.problem = std::move(problem_);
    CrashGuard::recording_ended(outcome.run_directory);
    return outcome;
}

std::string short_words(const std::exception& error) noexcept {
    try {
        return error.what();
    } catch (...) {
        return "no memory"; // short enough to need none
    }
}

} // namespace

Outcome record(const Options& options) {
    const Inheritance inheritance = Inheritance::now();
    std::string why;
    try {
        Recorder recorder(options, JobIdentity::from_environment());
        return recorder.run();
    } catch (const UsageError&) {
        throw;
    } catch (const Error& error) {
        if (error.exit_status() != Error::kToolFailed) // the program itself cannot be started
            throw;
        why = short_words(error);
    } catch (const std::exception& error) {
        why = short_words(error);
    }
    try {
        run_unrecorded(options, inheritance, why);
    } catch (const std::bad_alloc&) {
        run_without_memory(options, inheritance);
    }
}

} // namespace plumb::record
