// What the record rests on: the sources of evidence, the kernel's own counts, and what recording cost.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

enum class EvidenceState : uint32_t { ok = 1, limited = 2, missing = 3 };

struct Evidence {
    RecordHeader header;
    StringId source; //  8  "perf-sampling", "timer-sampling", "heap", "threads", ...
    uint32_t state;  // 12  EvidenceState
    StringId why;    // 16
    StringId enable; // 20  what would enable it
    uint32_t pid;    // 24  0: the whole run
    uint32_t padding;
};
static_assert(sizeof(Evidence) == 32);

struct RecorderCost {
    RecordHeader header;
    uint64_t cpu_ns;        //  8  the recorder's own CPU time
    uint64_t samples;       // 16  taken
    uint64_t lost_samples;  // 24  dropped by the kernel's rings
    uint64_t sample_cost_ns; // 32  estimated cost of one sample to the target
    uint64_t throttled_ns;  // 40  time during which sampling was slowed to keep the budget
    uint64_t start_up_ns;   // 48  from the launch to the program's exec
    uint64_t sample_period_ns; // 56
    uint64_t load_cost_ns;     // 64  estimated: loading and leaving the shim, in each process, beyond FileHeader::own_cost_ns; since 1.8
    uint64_t switches_cost_ns; // 72  estimated: the kernel's records of switches, in the target; since 1.8
};
static_assert(sizeof(RecorderCost) == 80);

struct EventCount {
    RecordHeader header; //     header.tid 0
    StringId name;       //  8  "alignment-faults", "emulation-faults", a PMU event's own name, "memory:" and the kernel's word
    uint32_t pid;        // 12  the process it was opened on, its descendants included; 0: the whole machine
    uint64_t count;      // 16
};
static_assert(sizeof(EventCount) == 24);

// What an event made in a part of the run. Groups take turns, so that an event was counted for a part of the run only; events of the
// same group and time were counted together.
struct CounterSlice {
    RecordHeader header; //     header.tid 0
    StringId event;      //  8  "cycles", "instructions", ...
    uint32_t pid;        // 12  the process it was opened on, its descendants included
    uint64_t begin_ns;   // 16
    uint64_t end_ns;     // 24
    uint64_t count;      // 32  in user mode; of what the kernel counts itself, in both
    uint64_t enabled_ns; // 40  summed over threads; 0: not known
    uint64_t running_ns; // 48  of it, on a counter
    uint32_t group;      // 56
    uint32_t flags;      // 60  CounterFlags
};
static_assert(sizeof(CounterSlice) == 64);
enum CounterFlags : uint32_t {
    kCountedByPapi = 1u << 0, // else by perf events
};

// Where an event happened, by its samples: each stands for so many of them.
struct CounterSite {
    RecordHeader header; //     header.tid: the thread
    StringId event;      //  8  as in CounterSlice
    uint32_t pid;        // 12
    NodeId path;         // 16  its leaf: the instruction, or one of the next few
    uint32_t reserved;   // 20
    uint64_t samples;    // 24
    uint64_t events;     // 32  what they stand for
    uint64_t first_ns;   // 40
    uint64_t last_ns;    // 48
};
static_assert(sizeof(CounterSite) == 56);

// One of the samples of an event. Of the samples of each event that a recorder took, each is as likely as any other to be recorded so.
struct CounterSample {
    RecordHeader header; //     header.tid: the thread
    StringId event;      //  8  as in CounterSite
    uint32_t pid;        // 12
    uint64_t time_ns;    // 16
};
static_assert(sizeof(CounterSample) == 24);

} // namespace plumb::trace
