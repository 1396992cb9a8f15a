#include "record/perf/sampler.h"

#include "platform/cpu_list.h"
#include "platform/read_file.h"
#include "record/run/node_trace_writer.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <sched.h>
#include <unistd.h>

namespace plumb::record {

namespace {

constexpr uint64_t kSecond = 1'000'000'000;
const size_t kPageBytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
constexpr size_t kMostSwitchEvents = 32, kMostSlowClocks = 32; // one a CPU: each makes every creation of a thread a little slower
constexpr size_t kRingPages = 32, kRingPagesWithStacks = 128;
// Copied with each sample, a multiple of 8: the innermost dozens of frames; what is above them is marked as unknown.
// On a virtual machine copying costs about 2 ns a byte, so that 8 KiB would double the cost of a sample.
constexpr uint32_t kSampledStackBytes = 4096;

// Whether the user, who knows of no other recorders, has so much left that a ring of that size is granted.
bool has_room(uint64_t bytes) {
    perf_event_attr event{};
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_DUMMY;
    event.disabled = event.exclude_kernel = event.exclude_hv = 1;
    const size_t pages = std::bit_floor(std::max<size_t>(bytes / kPageBytes, 2));
    PerfRing probe;
    return probe.open(event, 0, -1, pages) == 0 && probe.pages() == pages;
}

constexpr size_t kFetchAhead = 2, kFetchedBytes = 768; // records; of each: registers and innermost frames

} // namespace

RingPlan ring_plan_here(size_t wanted_pages, size_t recorders) {
    RingNeeds needs{.online = {}, .allowed = {}, .recorders = recorders, .wanted_pages = wanted_pages};
    if (const auto text = platform::read_file("/sys/devices/system/cpu/online"))
        needs.online = platform::parse_cpu_list(*text).value_or(std::vector<int>{});
    const int most = 1 + (needs.online.empty() ? 1023 : needs.online.back());
    cpu_set_t* set = CPU_ALLOC(most);
    const size_t bytes = CPU_ALLOC_SIZE(most);
    CPU_ZERO_S(bytes, set);
    if (sched_getaffinity(0, bytes, set) == 0)
        for (int cpu = 0; cpu < most; ++cpu)
            if (CPU_ISSET_S(cpu, bytes, set))
                needs.allowed.push_back(cpu);
    CPU_FREE(set);
    const auto online = static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    return plan_rings(needs, LockedMemory::now("", online), kPageBytes);
}

RingPlan ring_plan_of(const std::vector<int>& cpus) {
    const auto online = static_cast<size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
    RingPlan plan;
    plan.cpus = cpus;
    plan.pages = ring_pages(kRingPages, cpus.size(), 1, LockedMemory::now("", online), kPageBytes);
    return plan;
}

Sampler::Sampler(int pid, const Options& options, size_t recorders)
    : Sampler(pid, options,
              ring_plan_here(options.call_graph == CallGraph::dwarf ? kRingPagesWithStacks : kRingPages, recorders)) {}

Sampler::Sampler(int pid, const Options& options, RingPlan plan) : plan_(std::move(plan)), is_of_machine_(pid == kWholeMachine) {
    period_ns_ = static_cast<uint64_t>(kSecond / options.rate_hz);
    perf_event_attr& event = attributes_;
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_CPU_CLOCK;
    event.sample_period = period_ns_;
    event.sample_type = kSampleFields;
    event.disabled = event.enable_on_exec = event.inherit = !is_of_machine_;
    event.exclude_idle = is_of_machine_;
    event.mmap = event.mmap2 = event.build_id = options.follows_mappings;
    event.comm = event.comm_exec = event.task = 1;
    event.sample_id_all = 1;
    event.use_clockid = 1;
    event.clockid = CLOCK_MONOTONIC;
    event.exclude_hv = 1;
    event.watermark = 1;
    event.read_format = PERF_FORMAT_LOST;
    if (options.call_graph != CallGraph::none)
        event.sample_type |= PERF_SAMPLE_CALLCHAIN;
    event.sample_type |= PERF_SAMPLE_REGS_USER;
    event.sample_regs_user = kUserRegisters;
    if (options.call_graph == CallGraph::dwarf) {
        event.sample_type |= PERF_SAMPLE_STACK_USER;
        event.exclude_callchain_user = 1; // the recorder walks the copied stack instead
    }
    register_count_ = std::popcount(event.sample_regs_user);

    // A guess of what a sample costs target and recorder decides only whether pausing is prepared.
    constexpr double kLikelySampleCost_s = 10e-6;
    can_pause_ = options.rate_hz * kLikelySampleCost_s > options.budget_percent / 100 / 2;
    can_slow_ = !options.rate_is_fixed && !can_pause_ && plan_.cpus.size() <= kMostSlowClocks;
    if (can_slow_)
        event.sample_type |= PERF_SAMPLE_PERIOD; // tells the clocks apart

    int error = open_best(pid);
    if (error == EINVAL) { // before Linux 6.0: losses are not counted
        event.read_format = 0;
        error = open_best(pid);
    }
    if (error == EINVAL || error == E2BIG) { // before Linux 5.12: no build ids
        event.build_id = 0;
        error = open_best(pid);
    }
    if (error == EACCES || error == EPERM) {
        sees_kernel_ = false;
        event.exclude_kernel = event.exclude_callchain_kernel = 1;
        const int second_error = open_best(pid);
        if (second_error == 0) {
            const auto level = platform::read_number("/proc/sys/kernel/perf_event_paranoid");
            why_ = "time inside the kernel is not sampled: perf_event_paranoid is " +
                   (level ? std::to_string(*level) : "unreadable");
            enable_ = "sysctl kernel.perf_event_paranoid=1, or CAP_PERFMON";
        }
        error = second_error;
    }
    // Asked when this recorder has its rings, so that those who ask at the same moment do not all find the same room.
    if (error == ENOMEM || (error == 0 && plan_.left_bytes > 0 && !has_room(plan_.left_bytes))) {
        take_least(plan_);
        error = open_best(pid);
    }
    // Others may have asked for room that they do not keep.
    constexpr int kAttempts = 5;
    for (int attempt = 0; error == ENOMEM && plan_.left_bytes > 0 && attempt < kAttempts; ++attempt) {
        usleep(2000u << attempt);
        take_least(plan_);
        error = open_best(pid);
    }
    if (error != 0)
        explain(error);
    if (error == 0 && !threads_ && rings_.size() <= kMostSwitchEvents && options.collects("wait"))
        open_switches(pid);
    if (threads_) {
        why_ += std::string(why_.empty() ? "" : "; ") +
                "threads are sampled from when the recorder knows them: with so many CPUs and ranks, the memory that this user "
                "may lock for perf events does not hold a ring for each CPU";
        enable_ += std::string(enable_.empty() ? "" : "; ") + "ulimit -l, or sysctl kernel.perf_event_mlock_kb: larger";
    }
}

// A ring must hold a few samples with their stacks, and wake the recorder when it is half full.
void Sampler::set_ring_pages(size_t pages) {
    pages_ = pages;
    attributes_.wakeup_watermark = static_cast<uint32_t>(pages * kPageBytes / 2);
    if (attributes_.sample_type & PERF_SAMPLE_STACK_USER)
        attributes_.sample_stack_user = static_cast<uint32_t>(std::min<size_t>(kSampledStackBytes, pages * kPageBytes / 4));
}

// A ring for each CPU, or else for each thread.
int Sampler::open_best(int pid) {
    threads_.reset();
    set_ring_pages(plan_.pages);
    int error = plan_.per_thread ? ENOMEM : open_all(pid);
    if (!is_of_machine_ && (plan_.per_thread || error == ENOMEM || error == EMFILE || error == ENFILE)) {
        const int other_error = open_threads(pid);
        error = other_error == 0 || plan_.per_thread ? other_error : error;
    }
    return error;
}

int Sampler::open_threads(int pid) {
    rings_.clear();
    clocks_.clear();
    set_ring_pages(plan_.pages);
    threads_.emplace(attributes_, plan_.pages);
    if (const int error = threads_->begin(pid)) {
        threads_.reset();
        return error;
    }
    return 0;
}

void Sampler::look(const std::vector<uint32_t>& pids) {
    if (threads_)
        threads_->look(pids);
}

// All rings are as large as the smallest that the kernel grants: the work moves between CPUs. Others may have locked
// memory that the plan counts on, so that less is granted than was asked for.
int Sampler::open_all(int pid) {
    while (true) {
        const int error = open_rings(pid);
        size_t granted = pages_;
        for (const PerfRing& ring : rings_)
            granted = std::min(granted, ring.pages());
        if (error == 0 && granted == pages_)
            return 0;
        if (error != 0 && (error != ENOMEM || pages_ == 1))
            return error;
        set_ring_pages(error == 0 ? granted : pages_ / 2);
    }
}

int Sampler::open_rings(int pid) {
    rings_.clear();
    clocks_.clear();
    perf_event_attr first = attributes_, clock = attributes_;
    clock.mmap = clock.mmap2 = clock.build_id = clock.comm = clock.comm_exec = clock.task = 0;
    if (can_pause_)
        first.config = PERF_COUNT_SW_DUMMY;
    if (can_slow_)
        first.sample_period *= kSlowness;
    int error = ENODEV;
    for (const int cpu : plan_.cpus) {
        PerfRing ring;
        error = ring.open(first, pid, cpu, pages_);
        if (error == ENODEV || error == EINVAL)
            if (!rings_.empty())
                continue; // that CPU went offline
        if (error != 0) {
            rings_.clear();
            return error;
        }
        rings_.push_back(std::move(ring));
        if ((can_pause_ || can_slow_) && (error = clocks_.emplace_back().open_into(clock, pid, rings_.back())) != 0) {
            rings_.clear();
            return error;
        }
    }
    return rings_.empty() ? error : 0;
}

// Events of their own, so that they can be stopped when their records become too many. Nothing where one of them cannot be had:
// threads move between CPUs.
void Sampler::open_switches(int pid) {
    perf_event_attr event = attributes_;
    event.config = PERF_COUNT_SW_DUMMY;
    event.sample_period = 0;
    event.mmap = event.mmap2 = event.build_id = event.comm = event.comm_exec = event.task = 0;
    event.context_switch = 1;
    event.exclude_kernel = 1; // its records come all the same
    event.sample_type &= ~uint64_t{PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER};
    event.sample_regs_user = event.sample_stack_user = 0;
    event.exclude_callchain_user = event.exclude_callchain_kernel = 0;
    for (const PerfRing& ring : rings_) {
        PerfRing& switches = switches_.emplace_back();
        if (switches.open_into(event, pid, ring) != 0) {
            switches_.clear();
            return;
        }
    }
}

// Not closed: the kernel exchanges the events of two threads at a switch as long as neither thread has had one added or removed
// since they were inherited. After that it stops and starts all of them at each switch, timers of the clocks included
// (4 us a switch, measured in a virtual machine).
void Sampler::stop_switches() {
    for (PerfRing& switches : switches_)
        switches.enable(false);
    switches_stopped_ = true;
}

void Sampler::explain(int error) {
    if (error == EACCES || error == EPERM) {
        why_ = "perf_event_open is forbidden here (" + std::string(strerror(error)) + ")";
        const auto level = platform::read_number("/proc/sys/kernel/perf_event_paranoid");
        if (is_of_machine_) {
            why_ = "what runs on a CPU is not sampled for this user: perf_event_paranoid is " +
                   (level ? std::to_string(*level) : std::string("unreadable"));
            enable_ = "run plumb system as root or with CAP_PERFMON; or sysctl kernel.perf_event_paranoid=0";
        } else if (level && *level > 2) {
            why_ += ": perf_event_paranoid is " + std::to_string(*level);
            enable_ = "sysctl kernel.perf_event_paranoid=2";
        } else {
            enable_ = "in a container: allow the system call perf_event_open in its seccomp profile";
        }
    } else if (error == ENOMEM) {
        why_ = "this user's limit of locked memory for perf events is exhausted";
        enable_ = "raise ulimit -l, or sysctl kernel.perf_event_mlock_kb";
    } else if (error == ENOSYS) {
        why_ = "this kernel (or its seccomp filter) has no perf_event_open";
        enable_ = "a kernel with CONFIG_PERF_EVENTS; in a container: allow perf_event_open in its seccomp profile";
    } else if (error == EMFILE || error == ENFILE) {
        why_ = "too few file descriptors for one perf event on each CPU";
        enable_ = "ulimit -n";
    } else {
        why_ = "perf_event_open failed: " + std::string(strerror(error));
    }
}

uint64_t Sampler::lost() const {
    uint64_t lost = 0;
    for (const PerfRing& ring : rings_)
        lost += ring.lost();
    for (const PerfRing& clock : clocks_)
        lost += clock.lost();
    if (threads_)
        lost += threads_->lost();
    return lost;
}

uint64_t Sampler::lost_switches() const {
    uint64_t lost = 0;
    for (const PerfRing& ring : switches_)
        lost += ring.lost();
    return lost;
}

bool Sampler::enable(bool on) {
    if (!can_pause())
        return false;
    for (PerfRing& clock : clocks_)
        clock.enable(on);
    return true;
}

void Sampler::set_slow(bool slow) {
    if (!can_slow() || slow == is_slow_)
        return;
    for (PerfRing& clock : clocks_)
        clock.enable(!slow);
    is_slow_ = slow;
    slow_changed_ns_ = monotonic_ns();
}

// Of the slow clock while the usual one runs: what it stands for is counted already.
bool Sampler::is_left_out(const PerfRecord& record) const {
    const bool was_slow = (record.time_ns >= slow_changed_ns_) == is_slow_;
    return can_slow() && record.kind == PerfKind::sample && record.period > period_ns_ && !was_slow;
}

uint64_t Sampler::drain(const std::function<void(const PerfRecord&)>& take, bool final) {
    // A record that is being written while the rings are read may be older than one already read from another CPU.
    constexpr uint64_t kWriteTime = 2'000'000;
    const uint64_t horizon = final ? UINT64_MAX : monotonic_ns() - kWriteTime;
    uint64_t lost = 0;
    pending_.clear();
    std::vector<uint64_t> ends;
    std::vector<uint32_t> begun, ended; // threads
    std::vector<PerfRing>& rings = threads_ ? threads_->rings() : rings_;
    for (PerfRing& ring : rings) {
        uint64_t latest_ns = 0; // what is freed must lie before what is not
        ends.push_back(ring.read([&](const perf_event_header& header, uint64_t end) {
            uint64_t time_ns = 0;
            const size_t place = header.type == PERF_RECORD_SAMPLE ? sizeof header + 16 : header.size - 16;
            if (place + 8 <= header.size)
                std::memcpy(&time_ns, reinterpret_cast<const char*>(&header) + place, 8);
            latest_ns = std::max(latest_ns, time_ns);
            pending_.push_back({latest_ns, &ring, &header, end});
        }));
    }
    std::stable_sort(pending_.begin(), pending_.end(),
                     [](const Pending& a, const Pending& b) { return a.time_ns < b.time_ns; });
    size_t done = 0;
    for (; done < pending_.size() && pending_[done].time_ns <= horizon; ++done) {
        const Pending& next = pending_[done];
        if (done + kFetchAhead < pending_.size()) // another CPU wrote it: it comes from that one's cache
            for (size_t line = 0; line < kFetchedBytes; line += 64)
                __builtin_prefetch(reinterpret_cast<const char*>(pending_[done + kFetchAhead].record) + line);
        if (const std::optional<PerfRecord> record = decode(*next.record, attributes_.sample_type, register_count_)) {
            if (record->kind == PerfKind::lost)
                lost += record->lost;
            else if (record->kind == PerfKind::throttled)
                ++throttled_;
            else if (is_left_out(*record))
                ++left_out_;
            else
                take(*record);
            if (threads_ && record->kind == PerfKind::fork)
                begun.push_back(record->tid);
            if (threads_ && record->kind == PerfKind::exit)
                ended.push_back(record->tid);
        }
        next.ring->free_until(next.end);
    }
    if (done == pending_.size())
        for (size_t i = 0; i < rings.size(); ++i)
            rings[i].free_until(ends[i]);
    for (const uint32_t tid : begun)
        threads_->follow(tid);
    for (const uint32_t tid : ended)
        threads_->forget(tid);
    return lost;
}

} // namespace plumb::record
