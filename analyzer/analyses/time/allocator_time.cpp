#include "analyses/time/allocator_time.h"

#include "analyses/time/allocator_code.h"

#include <algorithm>

namespace plumb {

namespace {

constexpr uint64_t kLeastSampledAllocations = 30; // fewer cannot rank call paths
constexpr size_t kMostWrappers = 8;               // one calling the other
constexpr double kLeastCovered = 0.8;             // of the time must lie in processes with a sampled heap

// The innermost node outside the kernel; 0: none.
uint32_t user_node(const model::CallPaths& paths, size_t process, uint32_t node) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    while (node != 0 && node < nodes.size() && nodes[node].kernel)
        node = nodes[node].parent;
    return node < nodes.size() ? node : 0;
}

bool on_private_lock(model::CallPaths& paths, size_t process, uint32_t node) {
    if ((node = user_node(paths, process, node)) == 0)
        return false;
    for (const model::SourceFrame& frame : paths.frames_of(process, node))
        if (is_private_lock_function(frame.function))
            return true;
    return false;
}

bool yields(model::CallPaths& paths, size_t process, uint32_t node) {
    if ((node = user_node(paths, process, node)) == 0)
        return false;
    const std::string& function = paths.frames_of(process, node).front().function;
    return function.find("sched_yield") != std::string::npos;
}

// What an OpenMP runtime allocates for its tasks: omp-granularity reports it, and the program cannot change it.
bool is_of_openmp(model::CallPaths& paths, size_t process, uint32_t caller) {
    const std::vector<model::PathNode>& nodes = paths.run().processes[process].paths;
    const model::Module* module = caller ? paths.module_of(process, nodes[caller].address) : nullptr;
    return module && model::is_openmp_module(module->path);
}

// LineShares counts it as unplaced.
model::SourceFrame unknown_frame() {
    model::SourceFrame unknown;
    unknown.module = "[unknown]";
    return unknown;
}

// The user's frame behind the allocator. Where the path does not lead out of it, some frame of a system library:
// LineShares then counts it as unplaced.
model::SourceFrame frame_behind(model::CallPaths& paths, AllocatorCode& allocator, size_t process, uint32_t node) {
    const uint32_t caller = allocator.caller(process, node);
    return caller ? paths.user_frame(process, caller) : unknown_frame();
}

// The user's frame that decides to allocate; `caller`: the node behind the allocator.
model::SourceFrame deciding_frame(model::CallPaths& paths, size_t process, uint32_t caller) {
    if (caller == 0)
        return unknown_frame();
    const model::SourceFrame direct = paths.user_frame(process, caller);
    if (passes_allocation_on(direct.function))
        for (const model::SourceFrame& frame : paths.user_callers(process, caller, kMostWrappers))
            if (!passes_allocation_on(frame.function))
                return frame;
    return direct;
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
                profile.time_by_thread[{process, site.thread}].shim_samples += site.samples;
                continue;
            }
            profile.samples += site.samples;
            const uint32_t node = allocator.innermost(process, site.path);
            if (node != 0 && is_of_openmp(paths, process, allocator.caller(process, node)))
                continue;
            const bool lock = on_private_lock(paths, process, site.path);
            HeapThreadTime& of_thread = profile.time_by_thread[{process, site.thread}];
            of_thread.samples += site.samples;
            if (lock)
                of_thread.lock_hits += site.samples;
            else if (node == 0 && yields(paths, process, site.path))
                of_thread.yield_hits += site.samples;
            // The C library's other private locks are stdio's: without a call path to the allocator a lock counts as the
            // heap's only when the chain was cut at it.
            if (lock) {
                profile.lock_hits += site.samples;
                profile.lock_threads.insert({process, site.thread});
                profile.lock_lines.add(paths.user_frame(process, site.path), static_cast<double>(site.time_ns));
            }
            if (node == 0)
                continue;
            if (!lock) {
                const uint64_t kernel = std::min(site.kernel_samples, site.samples);
                of_thread.user_hits += site.samples - kernel;
                of_thread.other_hits += kernel;
            }
            profile.hits += site.samples;
            profile.kernel_hits += std::min(site.kernel_samples, site.samples);
            profile.threads.insert({process, site.thread});
            profile.seconds_by_process[process] += static_cast<double>(site.time_ns) * 1e-9;
            profile.hits_by_module[paths.frames_of(process, node).front().module] += site.samples;
            profile.sampled_lines.add(frame_behind(paths, allocator, process, node), static_cast<double>(site.time_ns));
        }
    return profile;
}

namespace {

// Calls visit(process, site, seconds) for every site of the heap with its part of the time in the allocator. False where the heap
// was not recorded where the time went, or too few allocations were sampled.
template <typename Visit> bool deal_out(const model::Run& run, const HeapProfile& profile, Visit visit) {
    double covered_s = 0, all_s = 0;
    uint64_t sampled = 0;
    for (const auto& [process, seconds] : profile.seconds_by_process) {
        const model::Heap& heap = run.processes[process].heap;
        double allocations = 0;
        for (const model::HeapSite& site : heap.sites)
            allocations += static_cast<double>(site.allocations);
        all_s += seconds;
        if (!heap.recorded || allocations <= 0)
            continue;
        covered_s += seconds;
        for (const model::HeapSite& site : heap.sites) {
            sampled += heap.every_event ? site.allocations : site.samples;
            visit(process, site, seconds * static_cast<double>(site.allocations) / allocations);
        }
    }
    return sampled >= kLeastSampledAllocations && covered_s >= kLeastCovered * all_s;
}

// Part of what the site allocated that lived when the heap was largest, or at the end.
double kept_part(const model::HeapSite& site) {
    const auto allocated = static_cast<double>(site.allocated_bytes);
    const double left = allocated - static_cast<double>(std::min(site.freed_bytes, site.allocated_bytes));
    return allocated > 0 ? std::min(1.0, std::max(left, static_cast<double>(site.peak_live_bytes)) / allocated) : 0;
}

} // namespace

LineShares allocation_lines(model::CallPaths& paths, const HeapProfile& profile) {
    LineShares lines;
    AllocatorCode allocator(paths);
    const bool known = deal_out(paths.run(), profile, [&](size_t process, const model::HeapSite& site, double seconds) {
        lines.add(frame_behind(paths, allocator, process, site.path), seconds);
    });
    return known ? lines : LineShares();
}

LineShares sparable_lines(model::CallPaths& paths, const HeapProfile& profile) {
    LineShares lines;
    AllocatorCode allocator(paths);
    const bool known = deal_out(paths.run(), profile, [&](size_t process, const model::HeapSite& site, double seconds) {
        const double kept = kept_part(site);
        const uint32_t caller = allocator.caller(process, site.path);
        lines.add(deciding_frame(paths, process, caller), seconds * (1 - kept));
        lines.add(unknown_frame(), seconds * kept);
    });
    return known ? lines : LineShares();
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
