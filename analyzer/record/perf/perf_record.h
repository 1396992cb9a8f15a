// The records that perf rings deliver, decoded: what a process did (fork, exec, mapping, name, end) and samples.
// Pure functions of bytes, so that they are tested without a kernel.
#pragma once

#include "record/perf/user_registers.h"

#include <linux/perf_event.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace plumb::record {

// What every event of this program asks for; decode() relies on it.
inline constexpr uint64_t kSampleFields =
    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;

enum class PerfKind { sample, fork, exit, comm, exec, mapping, lost, throttled, switched };

// Spans and text live as long as the bytes that were decoded.
struct PerfRecord {
    PerfKind kind = PerfKind::sample;
    uint64_t time_ns = 0; // CLOCK_MONOTONIC
    uint32_t pid = 0, tid = 0;
    int cpu = -1;

    // sample
    uint64_t address = 0;
    bool in_kernel = false;
    uint64_t data_address = 0;              // of a page fault: what was touched
    uint64_t period = 0;                    // how many events the sample stands for, where the event asks for it
    std::span<const uint64_t> chain;        // as the kernel gives it, with its PERF_CONTEXT_ marks
    std::span<const uint64_t> registers;    // of user mode, by ascending bit of the mask; empty: none
    uint64_t register_abi = 0;              // PERF_SAMPLE_REGS_ABI_
    std::span<const char> stack;            // copied from the stack pointer upwards

    // fork: the parent; exit of a process: its parent
    uint32_t parent_pid = 0, parent_tid = 0;

    // comm, exec: the name; mapping: the path
    std::string_view text;
    uint64_t start = 0, length = 0, page_offset = 0;
    uint64_t device = 0, inode = 0;        // of a mapping without build id
    uint8_t build_id[20] = {}, build_id_size = 0;
    uint32_t protection = 0;

    uint64_t lost = 0;

    // switched: the thread left its CPU, else it was put on one; it left although it could have gone on
    bool leaves = false, preempted = false;
};

// `record`: at a multiple of 8. `fields`: attr.sample_type, at least kSampleFields; `register_count`: bits in
// attr.sample_regs_user. Events must have sample_id_all. Nothing for kinds that are not listed above, and for records that
// are cut or contradict themselves.
std::optional<PerfRecord> decode(const perf_event_header& record, uint64_t fields, unsigned register_count);

} // namespace plumb::record
