#include "record/recorder.h"

#include "platform/split_lock_setting.h"
#include "record/calibrate/access_penalties.h"
#include "record/calibrate/calibration.h"
#include "record/calibrate/load_cost.h"
#include "record/collectors.h"
#include "record/run/abandoned_files.h"
#include "record/run/crash_guard.h"
#include "record/run/executable.h"
#include "record/run/flag_scan_list.h"
#include "record/run/run_directory.h"
#include "record/run/target_environment.h"
#include "record/run/unrecorded.h"
#include "record/run/watched_program.h"
#include "record/sampling_budget.h"
#include "record/watch/node_watch.h"
#include "support/error.h"
#include "support/nanoseconds.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <poll.h>
#include <sched.h>
#include <stdexcept>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kShortestTick = 100 * kMillisecond_ns, kLongestTick = 1000 * kMillisecond_ns;
constexpr double kTickShare = 0.25; // of the budget: the rest is for samples

uint64_t to_ns(const timeval& time) {
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_usec) * 1000;
}

// The order of a recording: before the program, while it runs, after it.
class Recorder {
  public:
    Recorder(const Options& options, const JobIdentity& job)
        : options_(options), recorders_(static_cast<size_t>(std::max(job.local_count, 1))),
          has_other_ranks_(job.rank_count > 1), inheritance_(Inheritance::now()), directory_(options, job) {}

    // Throws before the program starts, never afterwards.
    Outcome run();

  private:
    void prepare();
    void launch();
    void count_unrecorded() noexcept;
    void note_problem(const char* what) noexcept;
    void watch();
    bool reap();
    void drain(bool final) { collectors_->drain(budget_->choice(), final); }
    uint64_t tick(bool last);
    void calibrate();
    void finish();

    const Options& options_;
    const size_t recorders_; // on this node, of this job: they share the memory that the user may lock
    const bool has_other_ranks_;
    const Inheritance inheritance_;
    RunDirectory directory_;
    Calibration calibration_{platform::MachineCache::of_this_machine()};
    std::optional<Collectors> collectors_;
    std::optional<SamplingBudget> budget_;
    std::optional<NodeWatch> node_;
    std::optional<WatchedProgram> program_;
    trace::RecorderCost* cost_ = nullptr;
    bool has_shim_ = false;
    uint64_t begin_ns_ = 0, start_up_ns_ = 0;
    std::string problem_;
};

// All that can fail before the program starts.
void Recorder::prepare() {
    const Executable executable = find_executable(options_.command[0]);
    const TargetEnvironment usual = target_environment(options_, executable, directory_.path(), true);
    const TargetEnvironment without_perf = target_environment(options_, executable, directory_.path(), false);
    write_align_ranges(options_, directory_.path());
    seed_flag_scan_list(calibration_.cache(), directory_.path());
    program_.emplace(inheritance_);
    collectors_.emplace(directory_.new_trace_path(), options_);
    NodeTraceWriter& file = collectors_->file;
    if (!options_.swept.empty())
        file.evidence("sweep", trace::EvidenceState::ok, options_.swept, "");
    program_->create(options_.command, usual.variables, without_perf.variables);
    const int pid = program_->pid();
    if (options_.prepare_child)
        options_.prepare_child(pid);
    collectors_->prepare(pid, recorders_, calibration_);

    std::string command_line;
    for (const std::string& word : options_.command)
        command_line += (command_line.empty() ? "" : std::string(1, '\0')) + word;
    collectors_->processes.launch(pid, getpid(), command_line);
    cost_ = file.append(trace::RecordType::RecorderCost, 0, trace::RecorderCost{});
    has_shim_ = usual.why_no_shim.empty();
    if (!has_shim_)
        file.evidence("shim", trace::EvidenceState::missing, usual.why_no_shim, usual.enable, pid);
    if (const auto& sampler = collectors_->sampler)
        file.evidence("perf-sampling",
                      !sampler->works()         ? trace::EvidenceState::missing
                      : sampler->why().empty()  ? trace::EvidenceState::ok
                                                : trace::EvidenceState::limited,
                      sampler->why(), sampler->enable());
    node_.emplace(file, collectors_->processes, directory_, has_other_ranks_);
    begin_ns_ = monotonic_ns();
    budget_.emplace(*collectors_, calibration_, options_.budget_percent / 100, begin_ns_);
    directory_.begin(options_, begin_ns_, realtime_ns());
}

void Recorder::launch() {
    program_->release(collectors_->works_as_wanted() ? Child::Choice::usual : Child::Choice::other, options_.command[0]);
    start_up_ns_ = monotonic_ns() - begin_ns_;
}

// Everything that is read at intervals. Returns when the next tick is due.
uint64_t Recorder::tick(bool last) {
    Collectors& all = *collectors_;
    const uint64_t now = monotonic_ns(), cpu_before = own_cpu_ns();
    const bool is_sampled = all.has_samples() && !all.is_withheld(program_->pid(), begin_ns_ + start_up_ns_);
    const bool has_perf = is_sampled && !all.sampler->is_per_thread();
    if (!has_perf) { // else the kernel's records bring every process and thread
        all.processes.discover(now);
        for (const uint32_t pid : all.processes.living())
            all.threads->add(pid, pid, now);
    }
    if (is_sampled && !last)
        all.sampler->look(all.processes.living());
    all.threads->read(now, !has_perf);
    all.count_lost(now, last);
    if (!last)
        all.look_at_switches(now);
    node_->read(now, *all.threads, cpu_before, last);
    if (all.accesses && !last)
        all.accesses->look(now);
    const uint64_t tick_cost_ns = own_cpu_ns() - cpu_before;
    budget_->look(now);
    if (cost_) {
        budget_->write(*cost_);
        update(cost_->start_up_ns, start_up_ns_);
    }
    const uint64_t wanted = std::clamp((now - begin_ns_) / 64, kShortestTick, kLongestTick);
    const double factor = 100 / (options_.budget_percent * kTickShare);
    const auto affordable = static_cast<uint64_t>(static_cast<double>(tick_cost_ns) * factor);
    // However small the budget, it is looked after once in a while.
    return now + std::clamp(affordable, wanted, kLongestTick);
}

// True when the target has ended.
bool Recorder::reap() {
    return program_->reap(
        [this] {
            collectors_->threads->read_last(program_->pid(), monotonic_ns());
            drain(false);
        },
        [this] { drain(false); });
}

// The program is about to run without this recorder.
void Recorder::count_unrecorded() noexcept {
    try {
        directory_.begin_unrecorded(options_, monotonic_ns(), realtime_ns());
    } catch (...) {} // what failed first is what is said
}

void Recorder::note_problem(const char* what) noexcept {
    try {
        problem_ = what;
    } catch (...) { // no memory for the words
        problem_ = "no memory"; // short enough to need none
    }
}

void Recorder::watch() {
    Collectors& all = *collectors_;
    std::vector<pollfd> polled;
    uint64_t polled_version = 0;
    const auto poll_all = [&] {
        polled = {{program_->signals_fd(), POLLIN, 0}};
        all.add_to_poll(polled);
        polled_version = all.sampler ? all.sampler->rings_version() : 0;
    };
    poll_all();
    node_->begin(begin_ns_, calibration_, all.memory.get());
    uint64_t next_tick = begin_ns_ + kShortestTick / 4, woke_ns = monotonic_ns();
    while (true) {
        const uint64_t now = monotonic_ns();
        const uint64_t next = std::min({next_tick, all.memory ? all.memory->next_look_ns() : UINT64_MAX,
                                        all.accesses ? all.accesses->next_burst_ns() : UINT64_MAX,
                                        all.blocked ? all.blocked->next_look_ns() : UINT64_MAX,
                                        all.counters ? all.counters->next_look_ns() : UINT64_MAX});
        const uint64_t left = std::min(next > now ? next - now : 0, budget_->choose_slice());
        if (all.sampler && all.sampler->rings_version() != polled_version)
            poll_all();
        const timespec timeout{static_cast<time_t>(left / 1'000'000'000), static_cast<long>(left % 1'000'000'000)};
        if (all.preemptions)
            all.preemptions->recorder_ran(sched_getcpu(), woke_ns, monotonic_ns());
        const int ready = ppoll(polled.data(), polled.size(), &timeout, nullptr);
        woke_ns = monotonic_ns();
        // Fails for ever when fewer descriptors are allowed than are open. The program's end is seen without polling.
        if (ready < 0 && errno != EINTR)
            throw std::runtime_error(std::string("cannot wait for the program and its samples: ") + std::strerror(errno));
        if (ready > 0 && (polled[0].revents & POLLIN) && program_->forward_signals() && reap())
            return;
        // A ring whose last task has ended reports a hang-up for ever.
        for (size_t i = 1; i < polled.size(); ++i)
            if (polled[i].revents & (POLLHUP | POLLERR))
                polled[i].fd = -1;
        const bool is_due = monotonic_ns() >= next_tick;
        const bool burst_is_due = all.accesses && all.accesses->burst_is_due(monotonic_ns());
        if (ready > 0 || is_due || burst_is_due)
            drain(false);
        if (burst_is_due)
            all.accesses->look_at_burst(monotonic_ns());
        if (all.memory)
            all.memory->look_at_footprints(monotonic_ns());
        if (all.process_watch)
            all.process_watch->look(all.processes, monotonic_ns());
        if (all.goroutines)
            all.goroutines->look(monotonic_ns());
        if (all.counters)
            all.counters->look(monotonic_ns());
        if (all.blocked && monotonic_ns() >= all.blocked->next_look_ns()) {
            drain(false); // of threads that began, and of what the holders of locks do
            all.blocked->look(monotonic_ns(), all.threads->tasks());
        }
        if (is_due)
            next_tick = tick(false);
    }
}

// What unaligned accesses cost here, for runs that have made some. The program has ended: nobody waits but the report.
void Recorder::calibrate() {
    const CalibrationNeed need = options_.align == "off" ? CalibrationNeed{} : calibration_need(directory_.path());
    const bool sampled = collectors_->accesses && collectors_->accesses->saw_line_crossings();
    if (!need.unaligned && !sampled)
        return;
    trace::AccessPenalty penalty = measure_access_penalties(need.locked);
    penalty.split_lock_setting = collectors_->file.string(platform::read_split_lock_setting("").text);
    collectors_->file.append(trace::RecordType::AccessPenalty, 0, penalty);
}

void Recorder::finish() {
    const uint64_t end_ns = monotonic_ns();
    drain(true);
    budget_->find_sample_cost(true);
    tick(true);
    if (cost_ && has_shim_)
        update(cost_->load_cost_ns,
               load_cost_ns(calibration_, find_shim(), directory_.path() + "/load-cost-" + std::to_string(getpid())));
    if (collectors_->counters)
        collectors_->counters->finish(end_ns);
    node_->write_memory_counters();
    collectors_->write_evidence(program_->pid());
    calibrate();
    if (collectors_->accesses)
        collectors_->accesses->write(collectors_->file, directory_.recorders().size(), calibration_);
    const rusage& usage = program_->usage();
    collectors_->processes.gone(program_->pid(), end_ns, program_->wait_status(), to_ns(usage.ru_utime), to_ns(usage.ru_stime),
                                static_cast<uint64_t>(usage.ru_maxrss) * 1024);
    keep_flag_scan_list(calibration_.cache(), directory_.path());
    calibration_.save();
    free_abandoned_space(directory_.path());
    if (cost_) // what followed the last tick
        update(cost_->cpu_ns, own_cpu_ns());
    collectors_->file.close();
}

Outcome Recorder::run() {
    const auto drop_program = [this] { // it never became the program
        if (program_)
            program_->drop();
    };
    try {
        prepare();
        launch();
    } catch (const Error& error) {
        drop_program();
        if (error.exit_status() == Error::kToolFailed)
            count_unrecorded();
        else
            directory_.discard();
        throw;
    } catch (...) {
        drop_program();
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
        collectors_->begin(program_->pid(), begin_ns_);
        watch();
    });
    program_->wait_for_end();
    Outcome outcome;
    outcome.exit_status = exit_status_of(program_->wait_status());
    if (watched)
        attempt([&] { finish(); });
    if (options_.redact)
        attempt([&] { remove_align_ranges(directory_.path()); });
    attempt([&] {
        // Before the directory's name: without them nothing may be reported.
        outcome.private_paths = collectors_->file.private_paths();
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
