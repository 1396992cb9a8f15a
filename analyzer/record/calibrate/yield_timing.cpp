#include "record/calibrate/yield_timing.h"

#include "record/perf/perf_ring.h"
#include "record/run/node_trace_writer.h"

#include <cstring>
#include <linux/perf_event.h>
#include <sched.h>

namespace plumb::record {

namespace {

constexpr uint64_t kPeriod_ns = 50'000; // some times the cost of a sample on a virtual machine
constexpr uint64_t kLeastSamples = 20;
constexpr int kCallsAtOnce = 2'000; // well below the room of the ring

[[gnu::noinline]] void yield_often() {
    for (int call = 0; call < kCallsAtOnce; ++call)
        sched_yield();
}

bool is_in_caller(uint64_t address) {
    constexpr uint64_t kLongest = 128; // bytes, of yield_often()
    return address - reinterpret_cast<uint64_t>(&yield_often) < kLongest;
}

} // namespace

uint64_t YieldSamples::kernel_milli() const {
    const uint64_t outside_ns = (in_call + in_caller) * period_ns;
    return in_call < kLeastSamples || outside_ns >= all_ns ? 0 : (all_ns - outside_ns) * 1000 / (in_call * period_ns);
}

void add_yield_samples(uint64_t most_ns, YieldSamples& samples) {
    perf_event_attr event{};
    event.size = sizeof event;
    event.type = PERF_TYPE_SOFTWARE;
    event.config = PERF_COUNT_SW_CPU_CLOCK;
    event.sample_period = kPeriod_ns;
    event.sample_type = PERF_SAMPLE_IP;
    event.disabled = event.exclude_kernel = event.exclude_hv = 1;
    PerfRing ring;
    if (ring.open(event, 0, -1, 4) != 0)
        return;
    samples.period_ns = kPeriod_ns;
    const uint64_t begin_ns = own_cpu_ns();
    ring.enable(true);
    while (!samples.are_enough() && own_cpu_ns() - begin_ns < most_ns) {
        yield_often();
        ring.drain([&](const perf_event_header& header) {
            uint64_t address = 0;
            std::memcpy(&address, reinterpret_cast<const char*>(&header) + sizeof header, sizeof address);
            if (header.type == PERF_RECORD_SAMPLE)
                ++(is_in_caller(address) ? samples.in_caller : samples.in_call);
        });
    }
    ring.enable(false);
    samples.all_ns += own_cpu_ns() - begin_ns;
}

} // namespace plumb::record
