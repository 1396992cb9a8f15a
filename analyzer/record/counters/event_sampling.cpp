#include "record/counters/event_sampling.h"

#include "record/counters/event_check.h"
#include "record/counters/known_work.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <linux/perf_event.h>

namespace plumb::record {

namespace {

constexpr uint64_t kCyclesPerSample = 24'000'000, kMissesPerSample = 400'000; // a miss costs 60 cycles, where it is not hidden
constexpr uint64_t kTestedCycles = 50'000, kTestedMisses = 100; // of a sample of known work, which makes millions and thousands
constexpr size_t kTestPages = 16; // room for a thousand samples without stacks
constexpr unsigned kMostPrecise = 2;  // 3 takes samples of fewer instructions

bool counts_cycles(const CounterEvent& event) {
    return event.quantity == Quantity::cycles || event.quantity == Quantity::at_most_cycles || event.quantity == Quantity::memory_cycles;
}

perf_event_attr attributes_of(const SampledEvent& event, size_t pages) {
    perf_event_attr attributes{};
    attributes.size = sizeof attributes;
    attributes.type = event.coding.type;
    attributes.config = event.coding.config;
    attributes.config1 = event.coding.config1;
    attributes.config2 = event.coding.config2;
    attributes.sample_period = event.period; // not a frequency: each sample stands for the same
    attributes.sample_type = kSampleFields;
    if (event.stack_bytes > 0) {
        attributes.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attributes.sample_regs_user = kUserRegisters;
        attributes.sample_stack_user = event.stack_bytes;
    }
    attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attributes.disabled = attributes.inherit = attributes.sample_id_all = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    attributes.precise_ip = event.precise & 3u;
    attributes.watermark = 1;
    attributes.wakeup_watermark = static_cast<uint32_t>(pages * 4096 / 2);
    return attributes;
}

} // namespace

uint64_t period_of(const CounterEvent& event) { return counts_cycles(event) ? kCyclesPerSample : kMissesPerSample; }

int open_sampled(SampledEvent& event, int pid, const std::vector<int>& cpus, size_t pages, EventRings& rings) {
    int error = 0;
    for (event.precise = kMostPrecise + 1; event.precise-- > 0;)
        if ((error = rings.open(attributes_of(event, pages), pid, cpus, pages)) != EOPNOTSUPP && error != EINVAL && error != ENOENT)
            break;
    event.precise = event.precise > kMostPrecise ? 0 : event.precise;
    return error;
}

std::string sum_fault(uint64_t samples, uint64_t period, uint64_t counted, size_t rings) {
    // What is counted behind the last sample of each thread and CPU is in no sample.
    const uint64_t sum = samples * period, uncertain = counted / 10 + 2 * rings * period;
    if (sum <= counted + uncertain && counted <= sum + uncertain)
        return {};
    return fmt::format("its samples stand for {}, where {} are counted", sum, counted);
}

SamplingFault sampling_fault(SampledEvent event, std::pair<int, int> cpus) {
    KnownWork work(cpus.first, cpus.second, needs_scattered_loads(event.event));
    if (!work.works())
        return {work.why(), false};
    event.period = counts_cycles(*event.event) ? kTestedCycles : kTestedMisses;
    event.stack_bytes = 0;
    std::vector<int> places{cpus.first};
    if (cpus.second != cpus.first)
        places.push_back(cpus.second);
    EventRings rings;
    if (const int error = open_sampled(event, work.pid(), places, kTestPages, rings))
        return {std::string("perf_event_open, to sample: ") + strerror(error)};
    uint64_t samples = 0;
    rings.enable(true);
    const bool is_done = work.run();
    rings.enable(false);
    rings.drain([&](const PerfRecord&) { ++samples; }, true);
    const auto total = rings.total();
    if (!is_done || !total)
        return {is_done ? "its count cannot be read" : "the known work did not end", false};
    const CounterValue value{static_cast<int64_t>(total->events), total->enabled_ns, total->running_ns};
    SamplingFault fault;
    fault.is_lasting = running_share(value) >= kLeastRunning;
    fault.why = fault_of(value, work.count(event.event->quantity), work.count(event.event->quantity, true));
    if (fault.why.empty())
        fault.why = sum_fault(samples, event.period, total->events, rings.rings().size());
    return fault;
}

} // namespace plumb::record
