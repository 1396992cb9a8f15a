// Where an event happens: every so-many-th one is a sample, with the instruction and the innermost frames of its thread.
#pragma once

#include "record/counters/event_coding.h"
#include "record/perf/event_rings.h"

#include <string>
#include <utility>
#include <vector>

namespace plumb::record {

struct SampledEvent {
    const CounterEvent* event = nullptr;
    EventCoding coding;
    uint64_t period = 0;  // events of a sample
    uint32_t stack_bytes = 512; // copied with a sample, enough to find who called a routine that copies; 0: neither stack nor registers
    unsigned precise = 0; // perf_event_attr::precise_ip: above 0 the CPU itself reports the instruction, else it may be one of the next few
};

// Events of one sample: of cycles a hundred samples a second of CPU time, and as many at most of what costs cycles.
uint64_t period_of(const CounterEvent& event);

// Opens it for `pid` and all that it starts on `cpus`, not counting yet: as precise as the CPU offers, which goes into `event`. With
// rings of at most `pages`. Returns 0 or an errno.
int open_sampled(SampledEvent& event, int pid, const std::vector<int>& cpus, size_t pages, EventRings& rings);

struct SamplingFault {
    std::string why;        // empty: there is none
    bool is_lasting = true; // it would come out the same the next time: nobody else used the counter
};

// Samples known work, at a higher rate and without stacks, on these CPUs (see KnownWork): it must count right, and its samples add up to what it counts.
SamplingFault sampling_fault(SampledEvent event, std::pair<int, int> cpus);

// What samples of `period` events each have to add up to, of `rings` rings. Empty: they do.
std::string sum_fault(uint64_t samples, uint64_t period, uint64_t counted, size_t rings);

} // namespace plumb::record
