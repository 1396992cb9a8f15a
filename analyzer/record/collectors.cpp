#include "record/collectors.h"

#include "platform/cpu_list.h"
#include "platform/task_stat.h"
#include "support/nanoseconds.h"

#include <algorithm>
#include <iterator>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kMostBytesEach = 8u << 20; // of the recorder's file, for one process of the target
constexpr uint64_t kReservedBytes = 1u << 30;
constexpr double kGoroutineShare = 0.1; // of the budget, for looks at the goroutines of Go programs
constexpr double kWaitShare = 0.15;   // of the budget, for looks at blocked threads
constexpr double kSwitchShare = 0.65; // of the budget, for the kernel's records of switches

} // namespace

Collectors::Collectors(const std::string& trace_path, const Options& options)
    : file(trace_path, kMostBytesEach, kReservedBytes, options.redact), processes(file, kMostBytesEach),
      profile(file, processes, kMostBytesEach / 2), options_(options) {}

void Collectors::prepare(int pid, size_t recorders, Calibration& calibration) {
    if (options_.collects("sample"))
        sampler.emplace(pid, options_, recorders);
    count_events(pid);
    was_sampled_ = has_samples();
    if (was_sampled_ && options_.collects("memory"))
        memory = MemoryWatch::begin(file, processes, profile, pid, sampler->cpus());
    if (was_sampled_ && options_.collects("wait"))
        watch_page_reads(pid, recorders);
    if (options_.collects("counters")) {
        counters.emplace(file, calibration.cache(), pid);
        sample_counters(recorders);
    }
}

// As of page reads, its rings would come out of others' memory.
void Collectors::sample_counters(size_t recorders) {
    if (was_sampled_ && recorders == 1 && !sampler->shares_memory() && !sampler->is_per_thread())
        counters->sample(profile, sampler->cpus(), kMostBytesEach / 16);
    else
        file.evidence("counter-samples", trace::EvidenceState::missing,
                      "where counted events happen is not sampled where time is not, or several recorders share the memory for samples",
                      "");
}

// Its rings would come out of the memory that the samples of other recorders need.
void Collectors::watch_page_reads(int pid, size_t recorders) {
    if (recorders == 1 && !sampler->shares_memory() && !sampler->is_per_thread())
        page_reads.emplace(file, processes, "/proc", pid, sampler->cpus(), kMostBytesEach / 32);
    else
        file.evidence("page-reads", trace::EvidenceState::missing,
                      "which files are read by page faults is not recorded where several recorders share the memory for samples",
                      "");
}

// The CPU's counters may be in use by the program itself, so they are taken on request alone.
void Collectors::count_events(int pid) {
    std::vector<CountedEvent> wanted = kernel_events();
    if (options_.collects("counters"))
        for (CountedEvent& event : unaligned_cpu_events(""))
            wanted.push_back(std::move(event));
    if (!wanted.empty() || options_.collects("counters"))
        events.emplace(pid, wanted);
}

void Collectors::begin(int pid, uint64_t begin_ns) {
    const double budget = options_.budget_percent / 100;
    threads.emplace(file, "/proc", begin_ns);
    if (was_sampled_)
        process_watch.emplace(file, "/proc", begin_ns);
    if (sampler && sampler->sees_switches()) {
        switches.emplace(file, budget * kSwitchShare);
        active.emplace(file);
        preemptions.emplace(file);
    }
    if (options_.collects("wait"))
        blocked.emplace(file, processes, profile, "/proc", switches ? &*switches : nullptr, budget * kWaitShare,
                        kMostBytesEach / 8, static_cast<uint32_t>(pid), begin_ns);
    if (was_sampled_ && options_.collects("wait"))
        goroutines.emplace(file, processes, profile, "/proc", budget * kGoroutineShare, kMostBytesEach / 8);
    if (was_sampled_) // loads the decoder
        accesses.emplace(file, processes, profile.images(), budget, options_.collects("bandwidth"), begin_ns);
    if (memory && !accesses->works())
        memory->do_without_accesses(accesses->why());
    if (sampler && !was_sampled_)
        file.evidence("address-sampling", trace::EvidenceState::missing,
                      "the registers of time samples come from perf events, which do not work here", sampler->enable());
}

uint64_t Collectors::samples() const {
    return profile.samples() + left_out_ + (sampler ? sampler->left_out() : 0) + (accesses ? accesses->burst_samples() : 0);
}

// The kernel interrupts the CPU of each event that is running to read its count.
void Collectors::count_lost(uint64_t now_ns, bool final) {
    constexpr uint64_t kEvery = 1000 * kMillisecond_ns;
    if (!sampler || (!final && now_ns - counted_lost_ns_ < kEvery))
        return;
    counted_lost_ns_ = now_ns;
    lost_in_kernel_ = sampler->lost();
    lost_switches_ = sampler->lost_switches();
}

uint64_t Collectors::lost_samples() const { return std::max(lost_, lost_in_kernel_); }

void Collectors::drain(SampleChoice choice, bool final) {
    drained_ns_ = final ? UINT64_MAX : monotonic_ns();
    const uint64_t begin_cpu_ns = thread_cpu_ns();
    if (has_samples())
        lost_ += sampler->drain(
            [&](const PerfRecord& record) {
                if (record.kind != PerfKind::switched)
                    processes.take(record);
                begun_ += record.kind == PerfKind::fork;
                const uint64_t weight_ns = sampler->weight_ns(record) * choice.weight;
                if (switches)
                    switches->take(record);
                if (active)
                    active->take(record);
                if (preemptions)
                    preemptions->take(record);
                if (record.kind == PerfKind::switched)
                    return;
                if (record.kind == PerfKind::sample && !choice.wants(record.time_ns)) {
                    ++left_out_;
                    return;
                }
                threads->take(record, weight_ns);
                if (record.kind != PerfKind::sample)
                    return;
                const trace::NodeId path = profile.take(record, weight_ns, active && active->is_alone(record.pid, record.tid));
                if (blocked)
                    blocked->saw(record.tid, path, record.time_ns);
                const auto access =
                    accesses ? accesses->take(record, path, profile.latest_chain(record.tid), weight_ns) : std::nullopt;
                if (access && memory)
                    memory->take(*access, path);
            },
            final);
    drain_cpu_ns_ += thread_cpu_ns() - begin_cpu_ns;
    const std::vector<uint32_t> gone = processes.take_gone();
    if (memory)
        memory->settle(final || !gone.empty(), final);
    if (page_reads)
        page_reads->settle(final || !gone.empty());
    if (counters)
        counters->settle(final || !gone.empty());
    for (const uint32_t pid : gone) {
        profile.forget(pid);
        if (blocked)
            blocked->forget(pid);
        if (goroutines)
            goroutines->forget(pid);
        if (accesses)
            accesses->forget(pid);
        if (memory)
            memory->forget(pid);
        if (page_reads)
            page_reads->forget(pid);
    }
}

void Collectors::look_at_switches(uint64_t now_ns) {
    if (!switches)
        return;
    const uint64_t lost = lost_switches_ + lost_;
    switches->look(now_ns, threads->total_run_ns(), lost);
    active->write();
    if (switches->is_stopped() && sampler->sees_switches()) {
        sampler->stop_switches();
        switches->stop();
        active->stop();
        preemptions->stop();
    }
}

// The kernel records an exec when it gives the process the program's name. On a busy machine the process may have had no CPU for that
// long after its exec began. A program that is called as this one is known by the time alone.
bool Collectors::has_programs_name(int pid, uint64_t started_ns) const {
    constexpr uint64_t kLongest = 5000 * kMillisecond_ns;
    const auto its = platform::read_process_stat("/proc", static_cast<uint32_t>(pid)),
               own = platform::read_process_stat("/proc", static_cast<uint32_t>(getpid()));
    return !its || !own || its->name != own->name || drained_ns_ > started_ns + kLongest;
}

bool Collectors::is_withheld(int pid, uint64_t started_ns) {
    if (withheld_ || profile.samples() > 0)
        return withheld_;
    const Process* first = processes.find(static_cast<uint32_t>(pid));
    // The record of the exec may lie in the ring still, as the youngest do, or have found no room there.
    constexpr uint64_t kSettled = 100 * kMillisecond_ns;
    if (named_ns_ == 0 && has_programs_name(pid, started_ns))
        named_ns_ = monotonic_ns();
    const bool has_come = named_ns_ > 0 && drained_ns_ > named_ns_ + kSettled && lost_ == 0 && sampler->lost() == 0;
    withheld_ = has_come && first && !first->seen_written;
    if (withheld_)
        file.evidence("perf-sampling", trace::EvidenceState::missing,
                      "the kernel does not allow sampling of '" + options_.command[0] +
                          "': it cannot be read, or runs with other privileges",
                      "make the program readable, or run plumb with the program's privileges");
    return withheld_;
}

void Collectors::add_to_poll(std::vector<pollfd>& polled) const {
    if (sampler)
        for (const PerfRing& ring : sampler->rings())
            polled.push_back({ring.fd(), POLLIN, 0});
    if (memory)
        for (const PerfRing& ring : memory->rings())
            polled.push_back({ring.fd(), POLLIN, 0});
    if (page_reads)
        for (const PerfRing& ring : page_reads->rings())
            polled.push_back({ring.fd(), POLLIN, 0});
    if (counters)
        for (const int fd : counters->poll_fds())
            polled.push_back({fd, POLLIN, 0});
}

void Collectors::write_evidence(int pid) {
    if (accesses)
        accesses->write_evidence(file);
    if (memory)
        memory->write_evidence();
    if (blocked)
        blocked->write_evidence();
    if (active)
        active->write();
    if (switches)
        switches->write_evidence();
    else if (was_sampled_ && options_.collects("wait"))
        file.evidence("thread-switches", trace::EvidenceState::missing,
                      "exact times of blocked and preempted threads need a perf event on each CPU, which is too many here", "");
    if (events)
        events->write(file);
    write_what_is_left(pid);
    if (was_sampled_)
        write_what_was_not_sampled();
}

// The run ends with the program, as it does for whoever waits for it; what it left running is not recorded further.
void Collectors::write_what_is_left(int pid) {
    std::string names;
    size_t count = 0;
    for (const uint32_t left : processes.living()) {
        const auto stat = platform::read_process_stat("/proc", left);
        if (left == static_cast<uint32_t>(pid) || !stat || stat->state == 'Z')
            continue;
        if (++count <= 5)
            names += (names.empty() ? "" : ", ") + stat->name + " (" + std::to_string(left) + ")";
    }
    if (count > 0)
        file.evidence("processes-left", trace::EvidenceState::limited,
                      std::to_string(count) + " processes continued after the program ended, and were recorded only until "
                                              "then: " + names + (count > 5 ? ", ..." : ""),
                      "run the program in the foreground (many daemons have an option for that)");
}

// Where not everything could be sampled that ran.
void Collectors::write_what_was_not_sampled() {
    if (const uint64_t refused = sampler->refused_threads())
        file.evidence("perf-sampling", trace::EvidenceState::limited,
                      std::to_string(refused) + " threads were not sampled: no memory or descriptor was left for their rings",
                      "ulimit -l and ulimit -n, or sysctl kernel.perf_event_mlock_kb: larger");
    std::vector<int> elsewhere;
    if (!sampler->is_per_thread())
        std::ranges::set_difference(threads->cpus(), sampler->cpus(), std::back_inserter(elsewhere));
    if (!elsewhere.empty())
        file.evidence("perf-sampling", trace::EvidenceState::limited,
                      "threads ran on CPUs that the program was not allowed to use when it began, and were not sampled "
                      "there: " + platform::format_cpu_list(elsewhere),
                      "let the program begin with all CPUs that it is to use");
}

} // namespace plumb::record
