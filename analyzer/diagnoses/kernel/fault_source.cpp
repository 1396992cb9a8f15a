#include "diagnoses/kernel/fault_source.h"

#include "diagnoses/common/changeable_code.h"
#include "model/alignment.h"

#include <algorithm>

namespace plumb {

namespace {

constexpr size_t kManyProcesses = 20;
constexpr double kLeastAllocatedShare = 0.5; // of the faulted memory: malloc's memory is also used again

bool has_java(const model::Process& process) {
    return std::ranges::any_of(process.modules, [](const model::Module& module) { return module.path.ends_with("/libjvm.so"); });
}

} // namespace

FaultSource fault_source(const model::Run& run) {
    uint64_t faults = 0, recorded_faults = 0, java_faults = 0, allocated_bytes = 0, faulted_bytes = 0;
    for (const model::Process& process : run.processes) {
        uint64_t of_process = 0;
        for (const model::Thread& thread : process.threads)
            of_process += thread.minor_faults;
        faults += of_process;
        if (process.heap.recorded) {
            recorded_faults += of_process;
            java_faults += has_java(process) ? of_process : 0;
            faulted_bytes += std::max(of_process * model::kPageBytes, process.max_rss_bytes); // more where pages are huge
            allocated_bytes += process.heap.allocated_bytes;
        }
    }
    if (run.processes.size() >= kManyProcesses && faults <= kStartFaults * run.processes.size())
        return FaultSource::process_starts;
    if (faults == 0 || 2 * recorded_faults < faults)
        return FaultSource::unknown;
    return static_cast<double>(allocated_bytes) < kLeastAllocatedShare * static_cast<double>(faulted_bytes)
               ? (2 * java_faults >= recorded_faults ? FaultSource::java : FaultSource::own_mappings)
           : repeated_fault_share(run) < kLeastRepeated ? FaultSource::kept
                                                        : FaultSource::allocator;
}

} // namespace plumb
