// Noise, as `plumb noise` measured it: fixed work again and again on each CPU. Every turn of this work (a quantum) that took
// longer than the fastest ones lost the difference.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

// Bins of counts and times_ns: 0 below 128 ns; i from 128 ns * 2^((i-1)/2) to the next one's begin; the last is open.
inline constexpr uint32_t kNoiseBins = 64;

struct NoiseCpu {
    RecordHeader header;     //     header.tid: the thread that worked
    int32_t cpu;             //  8
    uint32_t flags;          // 12  NoiseCpuFlags
    uint64_t asked_ns;       // 16  length of a quantum that was asked for
    uint64_t quantum_ps;     // 24  of the fastest ones (the thousandth part of all, at least three)
    uint64_t begin_ns;       // 32
    uint64_t end_ns;         // 40
    uint64_t quanta;         // 48
    uint64_t lost_ns;        // 56  beyond quantum_ps, all quanta together; own_ns is not in it
    uint64_t own_ns;         // 64  taken by the recorder itself
    uint64_t slow_ns;        // 72  of lost_ns: all quanta took longer for a while, the CPU was slower
    uint64_t small_ns;       // 80  of lost_ns: losses below floor_ns
    uint64_t floor_ns;       // 88  what quanta that nothing disturbed differ by
    uint64_t least_ns;       // 96  shorter losses have no NoiseLoss
    uint64_t preempted_ns;   // 104 of lost_ns: other processes had the CPU, by the kernel's records of switches
    uint64_t preempted_count; // 112
    uint64_t left_out_ns;    // 120 at or above floor_ns, without a NoiseLoss
    uint64_t left_out_count; // 128
    uint64_t unseen;         // 136 quanta that the recorder came too late for
    uint64_t counts[64];     // 144 losses by their length
    uint64_t times_ns[64];   // 656 what they took
};
static_assert(sizeof(NoiseCpu) == 1168);
enum NoiseCpuFlags : uint32_t {
    kNoiseSwitchesSeen = 1u << 0, // records of switches say when others had the CPU
    kNoiseNamesSeen = 1u << 1,    // and who
    kNoiseSlowEverywhere = 1u << 2, // slow_ns: the other CPUs were slower at the same time
};

enum class NoiseCause : uint32_t {
    unknown = 1,
    process = 2,    // header.tid and name say which thread
    unnamed = 3,    // a process, not known which
    process_sometime = 4, // as process, for that long in all; in which of the losses around this one is not known
};

struct NoiseLoss {
    RecordHeader header; //     header.tid: the thread that had the CPU, 0: none, or not known
    int32_t cpu;         //  8
    uint32_t cause;      // 12  NoiseCause
    uint64_t begin_ns;   // 16
    uint64_t length_ns;  // 24
    StringId name;       // 32  of that thread
    uint32_t pid;        // 36  of its process, 0: not known
};
static_assert(sizeof(NoiseLoss) == 40);

// Fixed time: what was lost in each of consecutive intervals of the same length, 32 to a record, without own_ns.
struct NoiseSeries {
    RecordHeader header;
    int32_t cpu;            //  8
    uint32_t intervals;     // 12  in this record
    uint64_t begin_ns;      // 16  of the first
    uint64_t interval_ns;   // 24
    uint32_t lost_ppm[32];  // 32  of the interval
};
static_assert(sizeof(NoiseSeries) == 160);

} // namespace plumb::trace
