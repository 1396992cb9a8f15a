#include "diagnoses/registry.h"

namespace plumb {

namespace {

const DiagnosisEntry kEntries[] = {
    {"cpu-oversubscribed", "threads wait for a CPU while others have room, or behind other programs",
     make_cpu_oversubscribed},
    {"thread-migration", "busy threads move from CPU to CPU many times a second", make_thread_migration},
    {"placement-overlap", "masks force threads onto one another while other CPUs are free", make_placement_overlap},
    {"memory-hot-node", "memory of one node that threads of several nodes share", make_memory_hot_node},
    {"serial-first-touch", "memory that one thread touched first and all threads use in parts", make_serial_first_touch},
    {"memory-left-behind", "memory that stayed on a node when its thread was moved away", make_memory_left_behind},
    {"memory-spacing", "threads packed more densely than the memory they need, and the spacing that makes room",
     make_memory_spacing},
    {"page-cache-spill", "memory that went to other nodes because cached files filled its own", make_page_cache_spill},
    {"memory-remote", "accesses to memory of other nodes, by data object", make_memory_remote},
    {"split-lock", "locked instructions that cross a cache line and slow the whole machine down", make_split_lock},
    {"line-split-access", "accesses that cross a cache line or a page, by data object", make_line_split_access},
    {"unaligned-access", "unaligned accesses by data object, and the layout that cures them", make_unaligned_access},
    {"power-of-two-stride", "walks whose lines share few sets of a cache, and the padding that spreads them",
     make_power_of_two_stride},
    {"bandwidth-saturated", "threads that move all that memory can, and how many of them would do as well",
     make_bandwidth_saturated},
    {"false-sharing", "threads that use different bytes of the same cache line at the same time, and the padding",
     make_false_sharing},
    {"true-sharing", "variables and locks that several threads write all the time", make_true_sharing},
    {"page-size", "scattered accesses to much memory on small pages, and what huge pages would save", make_page_size},
    {"heap-bound", "time in the memory allocator, by allocating line", make_heap_bound},
    {"heap-contention", "threads wait for one another inside the allocator", make_heap_contention},
    {"heap-leak", "memory that grows and is never freed, by allocating line", make_heap_leak},
    {"kernel-time", "time in system calls and page faults, by the line that causes it", make_kernel_time},
    {"mpi-pending", "ranks that did not end MPI: which call each is in, and whom it waits for", make_mpi_pending},
    {"mpi-late-rank", "ranks make the others wait, one alone or several together: who, on which line, and why", make_mpi_late_rank},
    {"mpi-collective-wait", "time in collectives: waiting for the last to arrive, and the operations themselves",
     make_mpi_collective_wait},
    {"mpi-serialised", "ranks work one after another, each waiting for the one before", make_mpi_serialised},
    {"mpi-small-messages", "many small messages, and what sending them together would save", make_mpi_small_messages},
    {"library-time", "a library does most of the work", make_library_time},
};

} // namespace

std::span<const DiagnosisEntry> diagnosis_registry() { return kEntries; }

std::vector<Finding> findings_of(const DiagnosisEntry& entry, const DiagnosisInput& input) {
    std::vector<Finding> findings = entry.make()->diagnose(input);
    const double run_s = static_cast<double>(input.run.wall_ns()) * 1e-9;
    for (Finding& finding : findings)
        finding.severity = finding.fixed_severity.value_or(severity_of(finding.gain, run_s));
    return findings;
}

} // namespace plumb
