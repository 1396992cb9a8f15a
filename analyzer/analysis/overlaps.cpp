#include "analysis/overlaps.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace plumb {

namespace {

constexpr double kMostlySame = 0.3; // of the time at their lines

// Who waits, why, and what the kernel does meanwhile: one second may be part of several of these.
constexpr std::string_view kWaits[] = {
    "kernel-time", "lock-wait", "monitor-wait", "goroutine-wait", "interpreter-lock", "spin-wait", "io-wait", "page-in",
    "sleep-poll", "pipe-wait", "child-wait", "process-starts", "thread-imbalance", "slow-stage", "serial-part",
    "heap-contention", "false-sharing", "true-sharing", "cpu-oversubscribed", "os-noise", "noise-resonance", "spare-cpu",
    "omp-imbalance", "omp-critical",
    "omp-small-regions", "omp-granularity", "omp-tasks", "omp-serial"};
// The allocator's time holds the page faults and system calls of its blocks.
constexpr std::string_view kAllocation[] = {"kernel-time", "heap-bound", "heap-contention", "page-size"};
// What one unaligned access costs.
constexpr std::string_view kAlignment[] = {"split-lock", "line-split-access", "unaligned-access"};
// How a loop walks through memory, and how much it computes at a time.
constexpr std::string_view kLoops[] = {"scalar-loop", "power-of-two-stride", "page-size"};

// What lengthens the cycles of a whole job, and what says of the same seconds who waits in them, or why: at whatever lines.
constexpr std::string_view kOfWholeJob = "cycle-variation";
constexpr std::string_view kWithinJob[] = {"mpi-late-rank", "mpi-collective-wait", "mpi-serialised", "mpi-small-messages",
                                           "cpu-oversubscribed", "placement-overlap", "io-wait", "page-in", "lock-wait",
                                           "kernel-time", "sleep-poll", "os-noise", "noise-resonance", "spare-cpu"};

bool is_one_of(std::string_view id, std::span<const std::string_view> ids) {
    return std::ranges::find(ids, id) != ids.end();
}

bool may_share_time(const Finding& left, const Finding& right) {
    if (left.id == right.id) // a diagnosis gives each second to one of its findings
        return false;
    for (const std::span<const std::string_view> group : {std::span<const std::string_view>(kWaits),
                                                         std::span<const std::string_view>(kAllocation),
                                                         std::span<const std::string_view>(kAlignment),
                                                         std::span<const std::string_view>(kLoops)})
        if (is_one_of(left.id, group) && is_one_of(right.id, group))
            return true;
    return false;
}

bool share_a_job(const Finding& left, const Finding& right) {
    return (left.id == kOfWholeJob && is_one_of(right.id, kWithinJob)) || (right.id == kOfWholeJob && is_one_of(left.id, kWithinJob));
}

bool is_same_place(const Location& left, const Location& right) {
    return left.file == right.file && left.line == right.line && left.module == right.module &&
           (left.line != 0 || left.function == right.function);
}

// Of their time, how much is at lines that both name.
double shared_places(const Finding& left, const Finding& right) {
    double shared = 0;
    for (const Location& one : left.where)
        for (const Location& other : right.where)
            if (is_same_place(one, other))
                shared += std::min(one.share, other.share);
    return shared;
}

} // namespace

void mark_overlaps(std::vector<Finding>& findings) {
    for (size_t i = 0; i < findings.size(); ++i)
        for (size_t j = i + 1; j < findings.size(); ++j) {
            Finding &left = findings[i], &right = findings[j];
            if (left.severity == Severity::info || right.severity == Severity::info)
                continue;
            if (!share_a_job(left, right) && (!may_share_time(left, right) || shared_places(left, right) < kMostlySame))
                continue;
            left.overlaps.push_back(j);
            right.overlaps.push_back(i);
        }
}

} // namespace plumb
