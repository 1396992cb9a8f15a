#include "record/perf/fault_sampler.h"

#include <cstring>
#include <ctime>

namespace plumb::record {

namespace {

constexpr size_t kPages = 16, kMajorPages = 4; // of each ring
constexpr uint64_t kFaultsPerSample = 97;      // a sample costs about 3 us, so a fault (1 us and more) 30 ns
constexpr uint64_t kFaultsPerRareSample = 997; // and its unwinding 10 us of the recorder's
constexpr uint32_t kFaultStackBytes = 512;     // enough to find who called a memset

} // namespace

FaultSampler::FaultSampler(int pid, const std::vector<int>& cpus, Faults faults) {
    const bool major = faults == Faults::major;
    const size_t pages = major ? kMajorPages : kPages;
    faults_per_sample_ = major ? 1 : faults == Faults::few ? kFaultsPerRareSample : kFaultsPerSample;
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
    if (const int error = rings_.open(event, pid, cpus, pages))
        why_ = std::string("page faults cannot be sampled (") + std::strerror(error) + ")";
}

void FaultSampler::drain(const std::function<void(const PerfRecord&)>& take, bool all) {
    rings_.drain(
        [&](PerfRecord fault) {
            fault.period = faults_per_sample_;
            take(fault);
        },
        all);
}

} // namespace plumb::record
