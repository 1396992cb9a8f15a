// How large the requests are by which processes read and write.
#pragma once

#include "analyses/time/kernel_cause.h"
#include "model/run.h"

#include <cstdint>
#include <set>

namespace plumb {

struct RequestSizes {
    uint64_t calls = 0, bytes = 0; // 0 calls: not known

    double mean_bytes() const { return calls ? static_cast<double>(bytes) / static_cast<double>(calls) : 0; }
    // So large that what a call costs besides moving the data does not matter much, and larger ones save little.
    bool are_large() const;
};

// Of the processes (indexes) that spend time in `cause`; what is counted is all that they read, or write, by calls of that kind.
// Not known for other causes, and for calls that the kernel does not count (recv, send and their kin).
RequestSizes request_sizes(const model::Run& run, const KernelCause& cause, const std::set<size_t>& processes);

} // namespace plumb
