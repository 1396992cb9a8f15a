#include "diagnoses/heap/allocator_code.h"
#include "diagnoses/heap/heap_profile.h"

#include <algorithm>

namespace plumb {

namespace {

constexpr uint64_t kLeastSampledAllocations = 30; // fewer cannot rank call paths
constexpr double kLeastCovered = 0.8;             // of the time must lie in processes with a sampled heap

bool on_private_lock(model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    while (node != 0 && node < nodes.size() && nodes[node].kernel)
        node = nodes[node].parent;
    if (node == 0 || node >= nodes.size())
        return false;
    for (const model::SourceFrame& frame : paths.frames_of(process, node))
        if (is_private_lock_function(frame.function))
            return true;
    return false;
}

// The user's frame behind the allocator. Where the path does not lead out of it, some frame of a system library:
// LineShares then counts it as unplaced.
model::SourceFrame frame_behind(model::CallPaths& paths, AllocatorCode& allocator, size_t process, uint32_t node) {
    if (const uint32_t caller = allocator.caller(process, node))
        return paths.user_frame(process, caller);
    model::SourceFrame unknown;
    unknown.module = "[unknown]";
    return unknown;
}

} // namespace

HeapProfile heap_profile_of(model::CallPaths& paths) {
    HeapProfile profile;
    AllocatorCode allocator(paths);
    const std::vector<model::Process>& processes = paths.run().processes;
    for (size_t process = 0; process < processes.size(); process++)
        for (const model::SampleSite& site : processes[process].samples) {
            if (model::is_shim_module(paths.frames_of(process, site.path).front().module)) {
                profile.shim_samples += site.samples;
                continue;
            }
            profile.samples += site.samples;
            const bool lock = on_private_lock(paths, process, site.path);
            const uint32_t node = allocator.innermost(process, site.path);
            // The C library's other private locks are stdio's: without a call path to the allocator a lock counts as the
            // heap's only when the chain was cut at it.
            if (lock) {
                profile.lock_hits += site.samples;
                profile.lock_threads.insert({process, site.thread});
                profile.lock_lines.add(paths.user_frame(process, site.path), static_cast<double>(site.time_ns));
            }
            if (node == 0)
                continue;
            profile.hits += site.samples;
            profile.kernel_hits += std::min(site.kernel_samples, site.samples);
            profile.threads.insert({process, site.thread});
            profile.seconds_by_process[process] += static_cast<double>(site.time_ns) * 1e-9;
            profile.hits_by_module[paths.frames_of(process, node).front().module] += site.samples;
            profile.sampled_lines.add(frame_behind(paths, allocator, process, node), static_cast<double>(site.time_ns));
        }
    return profile;
}

LineShares allocation_lines(model::CallPaths& paths, const HeapProfile& profile) {
    LineShares lines;
    AllocatorCode allocator(paths);
    double covered_s = 0, all_s = 0;
    uint64_t sampled = 0;
    for (const auto& [process, seconds] : profile.seconds_by_process) {
        const model::Heap& heap = paths.run().processes[process].heap;
        double allocations = 0;
        for (const model::HeapSite& site : heap.sites)
            allocations += static_cast<double>(site.allocations);
        all_s += seconds;
        if (!heap.recorded || allocations <= 0)
            continue;
        covered_s += seconds;
        for (const model::HeapSite& site : heap.sites) {
            sampled += heap.every_event ? site.allocations : site.samples;
            lines.add(frame_behind(paths, allocator, process, site.path),
                      seconds * static_cast<double>(site.allocations) / allocations);
        }
    }
    return sampled >= kLeastSampledAllocations && covered_s >= kLeastCovered * all_s ? lines : LineShares();
}

HeapCounts heap_counts_of(const model::Run& run) {
    HeapCounts counts;
    for (const model::Process& process : run.processes) {
        counts.recorded = counts.recorded || process.heap.recorded;
        counts.allocations += process.heap.allocations;
        counts.frees += process.heap.frees;
        counts.reallocations += process.heap.reallocations;
        counts.allocated_bytes += process.heap.allocated_bytes;
    }
    return counts;
}

} // namespace plumb
