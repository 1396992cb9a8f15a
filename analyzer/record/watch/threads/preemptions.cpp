#include "record/watch/threads/preemptions.h"

#include <algorithm>

namespace plumb::record {

namespace {

// Records of one process, 320 KiB: with each quarter of them, only preemptions ten times as long are kept.
constexpr uint32_t kMostPreemptions = 1 << 13;
constexpr std::array<uint64_t, 4> kLeastLengths_ns = {0, 10'000, 100'000, 1'000'000};
constexpr size_t kRecorderStays = 512;

uint64_t overlap_ns(uint64_t begin_ns, uint64_t end_ns, uint64_t other_begin_ns, uint64_t other_end_ns) {
    const uint64_t begin = std::max(begin_ns, other_begin_ns), end = std::min(end_ns, other_end_ns);
    return end > begin ? end - begin : 0;
}

} // namespace

void Preemptions::recorder_ran(int cpu, uint64_t begin_ns, uint64_t end_ns) {
    if (recorder_.size() >= kRecorderStays)
        recorder_.pop_front();
    recorder_.push_back({cpu, begin_ns, end_ns});
}

void Preemptions::leave(int cpu, uint32_t tid, uint64_t time_ns) {
    Cpu& state = cpus_[cpu];
    if (state.tid != tid) // its coming was not recorded
        return;
    state.stays[state.next++ % Cpu::kStays] = {tid, state.since_ns, time_ns};
    state.tid = 0;
}

void Preemptions::take(const PerfRecord& record) {
    if (stopped_ || record.tid == 0)
        return;
    if (record.kind == PerfKind::exit) {
        lost_.erase(record.tid);
        leave(record.cpu, record.tid, record.time_ns);
        if (record.tid == record.pid)
            written_.erase(record.pid);
        return;
    }
    if (record.kind != PerfKind::switched)
        return;
    if (record.leaves) {
        leave(record.cpu, record.tid, record.time_ns);
        if (record.preempted)
            lost_[record.tid] = {record.pid, record.cpu, record.time_ns};
        else
            lost_.erase(record.tid);
        return;
    }
    if (const auto found = lost_.find(record.tid); found != lost_.end()) {
        write(record.tid, found->second, record.time_ns);
        lost_.erase(found);
    }
    Cpu& cpu = cpus_[record.cpu];
    cpu.tid = record.tid;
    cpu.since_ns = record.time_ns;
}

uint32_t Preemptions::taker(const Lost& lost, uint64_t end_ns, uint32_t but_tid) const {
    const auto found = cpus_.find(lost.cpu);
    if (found == cpus_.end())
        return 0;
    const Cpu& cpu = found->second;
    std::array<std::pair<uint32_t, uint64_t>, 8> sums{}; // more threads than these do not have most of the time each
    const auto add = [&](uint32_t tid, uint64_t length_ns) {
        if (tid == 0 || tid == but_tid || length_ns == 0)
            return;
        for (auto& [known, sum_ns] : sums)
            if (known == tid || known == 0) {
                known = tid;
                sum_ns += length_ns;
                return;
            }
    };
    if (cpu.tid)
        add(cpu.tid, overlap_ns(lost.since_ns, end_ns, cpu.since_ns, end_ns));
    for (size_t back = 1; back <= std::min(cpu.next, Cpu::kStays); ++back) {
        const Stay& stay = cpu.stays[(cpu.next - back) % Cpu::kStays];
        if (stay.end_ns <= lost.since_ns)
            break;
        add(stay.tid, overlap_ns(lost.since_ns, end_ns, stay.begin_ns, stay.end_ns));
    }
    uint64_t all_ns = 0;
    for (const auto& [tid, sum_ns] : sums)
        all_ns += sum_ns;
    const auto most = std::ranges::max_element(sums, {}, [](const auto& entry) { return entry.second; });
    return 2 * all_ns > end_ns - lost.since_ns ? most->first : 0;
}

bool Preemptions::by_recorder(const Lost& lost, uint64_t end_ns) const {
    uint64_t sum_ns = 0;
    for (auto ran = recorder_.rbegin(); ran != recorder_.rend() && ran->end_ns > lost.since_ns; ++ran)
        if (ran->cpu == lost.cpu)
            sum_ns += overlap_ns(lost.since_ns, end_ns, ran->begin_ns, ran->end_ns);
    return 2 * sum_ns > end_ns - lost.since_ns;
}

void Preemptions::write(uint32_t tid, const Lost& lost, uint64_t end_ns) {
    uint32_t& written = written_[lost.pid];
    const size_t part = written * kLeastLengths_ns.size() / kMostPreemptions;
    if (end_ns <= lost.since_ns || part >= kLeastLengths_ns.size() || end_ns - lost.since_ns < kLeastLengths_ns[part])
        return;
    trace::Preemption record{};
    record.pid = lost.pid;
    record.cpu = lost.cpu;
    record.begin_ns = lost.since_ns;
    record.end_ns = end_ns;
    record.taker = taker(lost, end_ns, tid);
    record.flags = record.taker == 0 && by_recorder(lost, end_ns) ? uint32_t{trace::kPreemptedByRecorder} : 0;
    written += file_.append(trace::RecordType::Preemption, tid, record) != nullptr;
}

} // namespace plumb::record
