// Cache lines that several threads use at the same time.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

// Sampled accesses to one cache line. A handover: a sample of one thread after one of another thread on another CPU, of
// which at least one is known to write. The same: one writes what the other one uses; such handovers count if the samples
// are no more than about three sampling intervals apart. Other: they use different bytes; such handovers count if the
// samples are as close, or other samples in the same page are.
struct SharedLine {
    RecordHeader header;
    uint32_t pid;              //  8
    uint32_t line_bytes;       // 12
    Address address;           // 16
    uint64_t samples;          // 24  of all threads
    uint64_t time_ns;          // 32  what they stand for
    uint64_t pairs;            // 40  samples that followed another one
    uint64_t handovers;        // 48  of them, by another thread on another CPU, whatever they do
    uint64_t close_pairs;      // 56  samples that soon followed another one
    uint64_t close_handovers;  // 64
    uint64_t same_handovers;   // 72
    uint64_t other_handovers;  // 80
    uint64_t same_slices;      // 88  of the process's time with several threads, a bit each: such handovers in it
    uint64_t other_slices;     // 96
    uint64_t slice_ns;         // 104 the same for all lines of a process
    uint32_t threads;          // 112 that were seen there, about
    uint32_t padding;          // 116
    uint64_t first_ns;         // 120 of the first sample: distinguishes the images of a pid that executed another program
};
static_assert(sizeof(SharedLine) == 128);

// Follows its line.
struct LineUse {
    RecordHeader header;      //     header.tid: the thread
    uint32_t pid;             //  8
    NodeId path;              // 12  of its samples, 0: not known
    Address line;             // 16  SharedLine::address
    Address instruction;      // 24  address
    uint16_t offset;          // 32  of the first byte in the line
    uint16_t width;           // 34  bytes
    uint32_t flags;           // 36  AlignFlags
    uint8_t code[15];         // 40  the instruction's bytes
    uint8_t code_bytes;       // 55
    Address base_value;       // 56  of the base register of its operand, at the last sample
    uint64_t samples;         // 64
    uint64_t time_ns;         // 72  what they stand for
    uint64_t shared_ns;       // 80  of that, while other threads were about, and not in a loop that only waits for a value
    uint64_t polled_ns;       // 88  of that, in such a loop
    uint64_t same_handovers;  // 96  to it
    uint64_t other_handovers; // 104
    uint64_t first_ns;        // 112
    uint64_t last_ns;         // 120
};
static_assert(sizeof(LineUse) == 128);

// Picoseconds of one access to a line of its own and to a line in which another CPU does the same to other bytes (of loads:
// updates them), in a loop that calculates between them so long that such accesses take about as much of the time as those
// to shared lines take in the program. 0: not measured. Update: an addition to memory without LOCK.
struct LineTransfer {
    RecordHeader header;          //     header.tid 0
    int32_t cpu;                  //  8
    int32_t other_cpu;            // 12
    uint64_t own_load_ps;         // 16
    uint64_t contended_load_ps;   // 24
    uint64_t own_store_ps;        // 32
    uint64_t contended_store_ps;  // 40
    uint64_t own_update_ps;       // 48
    uint64_t contended_update_ps; // 56
    uint64_t own_locked_ps;       // 64
    uint64_t contended_locked_ps; // 72
};
static_assert(sizeof(LineTransfer) == 80);

} // namespace plumb::trace
