// Cache lines that several threads of a process use at the same time, at least one of them to write, as sampled accesses
// showed.
#pragma once

#include "model/alignment.h"

#include <cstdint>
#include <vector>

namespace plumb::model {

// What one instruction of one thread does to a line. Times: of the samples.
struct LineUse {
    uint32_t thread = 0; // index into Process::threads
    uint32_t path = 0;   // index into Process::paths, 0: not known
    uint64_t instruction = 0; // address
    std::vector<uint8_t> code; // its bytes
    AccessKind kind;
    uint32_t offset = 0;      // of the first byte in the line
    uint64_t base_value = 0;  // of the base register of its operand
    uint64_t samples = 0, time_ns = 0;
    uint64_t shared_ns = 0; // of time_ns, while other threads were about, and not in a loop that only waits for a value
    uint64_t polled_ns = 0; // of time_ns, in such a loop
    uint64_t same_handovers = 0, other_handovers = 0; // to it, see SharedLine
    uint64_t first_ns = 0, last_ns = 0;
};

// Handovers: samples of one thread that followed one of another thread on another CPU.
struct SharedLine {
    uint64_t address = 0;
    uint32_t bytes = 0; // of a line
    uint64_t samples = 0, time_ns = 0;
    uint64_t pairs = 0, handovers = 0;             // samples that followed another one, and handovers among them
    uint64_t close_pairs = 0, close_handovers = 0; // the same, of those a short time behind the one before
    uint64_t same_handovers = 0;  // while both were about: one writes what the other one uses
    uint64_t other_handovers = 0; // they use different bytes, and at least one of them writes
    uint64_t same_slices = 0, other_slices = 0; // of the process's time, a bit each: there were such handovers
    uint64_t slice_ns = 0; // the same for all lines of a process
    uint32_t threads = 0;
    std::vector<LineUse> uses; // by time, the most first
};

// Nanoseconds of one access as timed on this machine, to a line of its own and to one in which another CPU uses other bytes,
// as densely as the program comes to its shared lines; 0: not measured.
struct LineTransfer {
    struct Access {
        double own_ns = 0, contended_ns = 0;
    };
    int cpu = -1, other_cpu = -1;
    Access load, store, update, locked; // update: load and store in one instruction, without LOCK
};

} // namespace plumb::model
