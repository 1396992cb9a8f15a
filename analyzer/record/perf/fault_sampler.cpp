#include "record/perf/fault_sampler.h"

#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace plumb::record {

namespace {

constexpr size_t kPages = 16, kMajorPages = 4; // of each ring
constexpr uint64_t kFaultsPerSample = 97;      // a sample costs about 3 us, so a fault (1 us and more) 30 ns
constexpr uint32_t kFaultStackBytes = 512;     // enough to find who called a memset

} // namespace

FaultSampler::FaultSampler(int pid, const std::vector<int>& cpus, Faults faults) {
    const bool major = faults == Faults::major;
    const size_t pages = major ? kMajorPages : kPages;
    faults_per_sample_ = major ? 1 : kFaultsPerSample;
    perf_event_attr event{};
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS;
    event.sample_period = faults_per_sample_; // a frequency would take the program's first faults for the usual rate
    // Not PERF_SAMPLE_PERIOD: asked for it, the kernel samples every single event of its software counters.
    event.sample_type = kSampleFields | PERF_SAMPLE_ADDR;
    event.disabled = event.enable_on_exec = event.inherit = 1;
    event.sample_id_all = 1;
    event.use_clockid = 1;
    event.clockid = CLOCK_MONOTONIC;
    event.exclude_kernel = event.exclude_hv = 1;
    if (!major) {
        event.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        event.sample_regs_user = kUserRegisters;
        event.sample_stack_user = kFaultStackBytes;
    }
    event.watermark = 1;
    event.wakeup_watermark = static_cast<uint32_t>(pages * 4096 / 2);
    fields_ = event.sample_type;
    register_count_ = std::popcount(event.sample_regs_user);
    for (const int cpu : cpus) {
        PerfRing ring;
        const int error = ring.open(event, pid, cpu, pages);
        if (error == ENODEV)
            continue; // that CPU went offline
        if (error != 0) {
            rings_.clear();
            why_ = std::string("page faults cannot be sampled (") + std::strerror(error) + ")";
            return;
        }
        rings_.push_back(std::move(ring));
    }
}

void FaultSampler::hand_out(const std::function<void(const PerfRecord&)>& take) {
    for (size_t at = 0; at < bytes_.size();) {
        const auto& header = *reinterpret_cast<const perf_event_header*>(bytes_.data() + at);
        if (auto record = decode(header, fields_, register_count_); record && record->kind == PerfKind::sample) {
            record->period = faults_per_sample_;
            take(*record);
        }
        at += header.size;
    }
    bytes_.clear();
}

void FaultSampler::drain(const std::function<void(const PerfRecord&)>& take, bool all) {
    hand_out(take);
    for (PerfRing& ring : rings_)
        ring.drain([&](const perf_event_header& header) { // sizes are multiples of 8, so every copy is aligned
            const char* begin = reinterpret_cast<const char*>(&header);
            bytes_.insert(bytes_.end(), begin, begin + header.size);
        });
    if (all)
        hand_out(take);
}

} // namespace plumb::record
