#include "record/noise/node_noise.h"

#include "platform/cpuset.h"
#include "record/noise/measured_cpus.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace plumb::record {

namespace {

constexpr uint64_t kNoiseSecond_ns = 1'000'000'000;
constexpr uint64_t kNamedRound_ns = kNoiseSecond_ns, kUnnamedRound_ns = kNoiseSecond_ns / 10;
constexpr uint64_t kRoundCostFactor = 300; // a round may take this part of the time
constexpr uint64_t kMostIntervals = 8192;
constexpr size_t kMostLossesOfNode = 1u << 18, kFewestLossesOfCpu = 1u << 11, kMostLossesOfCpu = 1u << 16;
constexpr size_t kSpareFiles = 256;

size_t files_to_keep() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= 2 * kSpareFiles)
        return 0;
    return std::min<size_t>(limit.rlim_cur - kSpareFiles, 1u << 14);
}

// The recorder is on one CPU only, one that is not measured if there is any.
int place_recorder(const std::vector<int>& measured) {
    int cpu = measured.back();
    for (const int other : platform::affinity_mask())
        if (!std::ranges::binary_search(measured, other))
            cpu = other;
    return bind_thread_to(cpu) ? cpu : -1;
}

} // namespace

NodeNoise::NodeNoise(const NoiseOptions& options, const std::vector<int>& cpus, const std::string& proc_root)
    : options_(options), proc_root_(proc_root), workers_(cpus, options.quantum_ns),
      own_tid_(static_cast<uint32_t>(syscall(SYS_gettid))), own_cpu_(place_recorder(cpus)), cpus_(workers_.count()) {
    bool names_all = true;
    for (size_t i = 0; i < cpus_.size(); ++i) {
        cpus_[i].worker = &workers_.at(i);
        cpus_[i].watch.emplace(cpus[i], workers_.at(i).tid);
        names_all &= cpus_[i].watch->knows_names();
    }
    if (!names_all) {
        users_.emplace(proc_root_, static_cast<uint32_t>(getpid()), files_to_keep());
        users_->look(); // the first look opens the files
    }
}

void NodeNoise::begin() {
    for (Cpu& cpu : cpus_)
        cpu.watch->read(names_, proc_root_); // of the calibration
    if (users_)
        users_->look();
    begin_ns_ = monotonic_ns();
    awoke();
    workers_.go();
}

void NodeNoise::awoke() {
    awoke_ns_ = monotonic_ns();
    round_cpu_ns_ = thread_cpu_ns();
}

// Awake, it may wait for a CPU as well: its own is no more than the CPU time that it took.
void NodeNoise::sleeps() {
    awake_.push_back({awoke_ns_, monotonic_ns()});
    own_budget_ns_ += thread_cpu_ns() - round_cpu_ns_;
}

std::vector<int> NodeNoise::wake_fds() const {
    std::vector<int> fds;
    for (const Cpu& cpu : cpus_)
        if (cpu.watch->works())
            fds.push_back(cpu.watch->fd());
    return fds;
}

void NodeNoise::read_absences(const std::vector<CpuUse>& uses) {
    for (Cpu& cpu : cpus_) {
        std::vector<Absence> absences = cpu.watch->read(names_, proc_root_);
        const bool shares_cpu = cpu.worker->cpu == own_cpu_ || own_cpu_ < 0;
        std::vector<uint64_t> own_ns;
        for (Absence& absence : absences) {
            own_ns.push_back(take_own_time(absence, own_tid_, shares_cpu ? std::span<const AwakeTime>(awake_) : std::span<const AwakeTime>(),
                                           own_budget_ns_));
            own_budget_ns_ -= std::min(own_budget_ns_, own_ns.back());
        }
        if (users_)
            name_absences(cpu, absences, uses);
        cpu.absences.insert(cpu.absences.end(), std::make_move_iterator(absences.begin()), std::make_move_iterator(absences.end()));
        cpu.own_ns.insert(cpu.own_ns.end(), own_ns.begin(), own_ns.end());
    }
}

// Absences that end in this round, by what ran since they began: that may be rounds ago.
void NodeNoise::name_absences(Cpu& cpu, std::vector<Absence>& absences, const std::vector<CpuUse>& uses) {
    std::vector<CpuUse> here = std::move(cpu.left_uses);
    const std::map<uint32_t, uint64_t> ahead_ns = std::exchange(cpu.ahead_ns, {});
    for (CpuUse use : uses) {
        if (use.cpu != cpu.worker->cpu)
            continue;
        if (const auto ahead = ahead_ns.find(use.tid); ahead != ahead_ns.end())
            use.run_ns -= std::min(use.run_ns, ahead->second);
        const auto known = std::ranges::find(here, use.tid, &CpuUse::tid);
        if (known == here.end())
            here.push_back(use);
        else
            known->run_ns += use.run_ns;
    }
    name_by_use(absences, here, names_);
    for (CpuUse& use : here)
        if (const uint64_t use_ahead_ns = std::exchange(use.ahead_ns, 0))
            cpu.ahead_ns[use.tid] = use_ahead_ns;
    cpu.left_uses.clear();
    if (!cpu.watch->is_off())
        return;
    for (CpuUse& use : here) {
        if (!absences.empty()) { // the one that goes on began in this round
            const auto now = std::ranges::find(uses, use.tid, &CpuUse::tid);
            use.run_ns = now == uses.end() ? 0 : std::min(use.run_ns, now->run_ns);
        }
        if (use.run_ns > 0)
            cpu.left_uses.push_back(std::move(use));
    }
}

uint64_t NodeNoise::round() {
    // Switches before the end of a quantum are recorded before it: what is read after these heads holds them all.
    std::vector<uint64_t> heads;
    for (const Cpu& cpu : cpus_)
        heads.push_back(cpu.worker->ring.head());
    read_absences(users_ ? users_->look() : std::vector<CpuUse>());
    for (size_t i = 0; i < cpus_.size(); ++i)
        take_quanta(cpus_[i], heads[i]);
    // Of the times that the recorder was awake, those that an absence not yet read may lie in.
    const uint64_t now_ns = monotonic_ns(), old_ns = now_ns - std::min(now_ns, 30 * kNoiseSecond_ns);
    std::erase_if(awake_, [&](const AwakeTime& time) { return time.end_ns < old_ns; });
    const uint64_t usual_ns = users_ ? kUnnamedRound_ns : kNamedRound_ns;
    const uint64_t cost_ns = thread_cpu_ns() - round_cpu_ns_;
    const uint64_t room_ns = options_.quantum_ns * (QuantaRing::kPlaces / 4);
    return now_ns + std::min(std::max(usual_ns, cost_ns * kRoundCostFactor), std::max(room_ns, cost_ns * 4));
}

void NodeNoise::take_quanta(Cpu& cpu, uint64_t head) {
    if (!cpu.log && head > 0) {
        const size_t share = kMostLossesOfNode / cpus_.size();
        cpu.log.emplace(cpu.worker->begin_ns,
                        LossLog::Limits{.losses = std::clamp(share, kFewestLossesOfCpu, kMostLossesOfCpu),
                                        .unsettled = kMostLossesOfCpu,
                                        .interval_ns = std::max(options_.quantum_ns, options_.time_ns / kMostIntervals + 1),
                                        .intervals = 2 * kMostIntervals});
        cpu.end_ns = cpu.worker->begin_ns;
    }
    cpu.worker->ring.take_until(head, [&](uint64_t duration_ns, bool is_gap) {
        const uint64_t end_ns = cpu.end_ns += duration_ns;
        std::vector<Absence> absences;
        uint64_t own_ns = 0;
        // By their middle: the clock of the kernel's records may differ by some nanoseconds.
        while (!cpu.absences.empty()) {
            const Absence& first = cpu.absences.front();
            if (first.begin_ns + (first.end_ns - first.begin_ns) / 2 >= end_ns)
                break;
            if (!first.parts.empty())
                absences.push_back(std::move(cpu.absences.front()));
            own_ns += cpu.own_ns.front();
            cpu.absences.pop_front();
            cpu.own_ns.pop_front();
        }
        if (is_gap)
            cpu.log->gap(duration_ns);
        else
            cpu.log->quantum(duration_ns, own_ns, std::move(absences));
    });
}

void NodeNoise::end() {
    workers_.stop();
    sleeps(); // the rest is read after the last quantum
    round();
    for (Cpu& cpu : cpus_)
        if (cpu.log)
            cpu.log->settle();
}

void NodeNoise::write_evidence(NodeTraceWriter& file) const {
    uint64_t lost = 0;
    int error = 0;
    for (const Cpu& cpu : cpus_) {
        lost += cpu.watch->lost();
        error = error ? error : cpu.watch->error();
    }
    using State = trace::EvidenceState;
    if (error)
        file.evidence("switches", State::missing,
                      fmt::format("perf_event_open failed ({}): losses to other processes are among those of unknown cause",
                                  std::strerror(error)),
                      "sysctl kernel.perf_event_paranoid=2; in a container: allow perf_event_open in its seccomp profile");
    else if (users_)
        file.evidence("switches", State::limited,
                      "records of switches give the exact times of losses to other processes; whose they were follows from "
                      "/proc/PID/schedstat and is not always known",
                      "CAP_PERFMON, or sysctl kernel.perf_event_paranoid=0: the records then name the processes");
    else
        file.evidence("switches", lost ? State::limited : State::ok,
                      lost ? fmt::format("{} records of switches found no room", lost) : "", "");
}

void NodeNoise::write(NodeTraceWriter& file) {
    write_evidence(file);
    for (Cpu& cpu : cpus_) {
        if (!cpu.log || !cpu.log->is_settled())
            continue;
        trace::NoiseCpu totals = cpu.log->totals;
        totals.cpu = cpu.worker->cpu;
        totals.asked_ns = options_.quantum_ns;
        totals.unseen = cpu.worker->ring.unseen();
        totals.flags = (cpu.watch->works() ? uint32_t{trace::kNoiseSwitchesSeen} : 0) |
                       (cpu.watch->knows_names() ? uint32_t{trace::kNoiseNamesSeen} : 0);
        file.append(trace::RecordType::NoiseCpu, cpu.worker->tid, totals);
        for (const LostTime& loss : cpu.log->losses()) {
            trace::NoiseLoss record{};
            record.cpu = cpu.worker->cpu;
            record.cause = static_cast<uint32_t>(loss.cause);
            record.begin_ns = loss.begin_ns;
            record.length_ns = loss.length_ns;
            record.name = file.string(names_.at(loss.name));
            record.pid = loss.pid;
            file.append(trace::RecordType::NoiseLoss, loss.tid, record);
        }
        const uint64_t interval_ns = cpu.log->series_interval_ns();
        const std::vector<uint64_t>& series_ns = cpu.log->series_ns;
        const auto whole = static_cast<size_t>((totals.end_ns - totals.begin_ns) / interval_ns); // the last one is not
        for (size_t first = 0; first < std::min(series_ns.size(), whole); first += 32) {
            trace::NoiseSeries record{};
            record.cpu = cpu.worker->cpu;
            record.begin_ns = totals.begin_ns + first * interval_ns;
            record.interval_ns = interval_ns;
            for (; record.intervals < 32 && first + record.intervals < std::min(series_ns.size(), whole); ++record.intervals)
                record.lost_ppm[record.intervals] = static_cast<uint32_t>(
                    std::min(1e6, 1e6 * static_cast<double>(series_ns[first + record.intervals]) / static_cast<double>(interval_ns)));
            file.append(trace::RecordType::NoiseSeries, 0, record);
        }
    }
}

} // namespace plumb::record
