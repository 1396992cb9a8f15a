#include "record/access/access_watch.h"

#include "platform/cache_levels.h"
#include "record/access/replay/loop_crossings.h"
#include "record/access/replay/packed_loops.h"

#include <algorithm>
#include <bit>
#include <sched.h>
#include <unistd.h>
#include <vector>

namespace plumb::record {

namespace {

constexpr uint64_t kMostBytesEach = 1u << 20; // of the recorder's file, for the accesses of one process
constexpr double kNewCodeShare = 0.1;          // of the budget
constexpr uint64_t kMostReplay_ns = 200'000'000, kLeastReplay_ns = 6'000'000; // of loops for their alignment
constexpr uint64_t kPacking_ns = 100'000'000;                                 // at most, of loops for their packed form

std::vector<platform::CacheLevel> caches_here() {
    return platform::read_cache_levels("", std::max(sched_getcpu(), 0));
}

// Of the unit in which CPUs hand data to one another.
uint32_t line_bytes(const std::vector<platform::CacheLevel>& caches) {
    const long reported = sysconf(_SC_LEVEL1_DCACHE_LINESIZE);
    const uint32_t bytes = !caches.empty() ? caches.front().line_bytes : reported > 0 ? static_cast<uint32_t>(reported) : 64;
    return std::has_single_bit(bytes) && bytes >= 16 && bytes <= 4096 ? bytes : 64;
}

} // namespace

AccessWatch::AccessWatch(NodeTraceWriter& file, ProcessTable& processes, unwind::StackUnwinder& images, double budget,
                         bool bandwidth, uint64_t begin_ns)
    : accesses_(file, processes, images, kMostBytesEach, budget * kNewCodeShare), strides_(caches_here()),
      loops_(accesses_, processes), spinning_(accesses_, processes), sharing_(line_bytes(caches_here())), scatter_("/proc") {
    if (bandwidth)
        traffic_.emplace(accesses_, begin_ns);
}

std::optional<SampledAccess> AccessWatch::take(const PerfRecord& sample, trace::NodeId path,
                                               std::span<const CallChain::Step> chain, uint64_t weight_ns) {
    sharing_.count(sample.pid, sample.tid, sample.cpu, sample.time_ns, weight_ns);
    const std::optional<SampledAccess> access = accesses_.take(sample, weight_ns);
    if (works()) {
        loops_.take(sample, weight_ns);
        spinning_.take(sample, chain, weight_ns, access ? &*access : nullptr);
    }
    if (access) {
        strides_.take(*access);
        scatter_.take(*access);
        if (traffic_)
            traffic_->take(*access);
        sharing_.take(*access, path);
    }
    return access;
}

void AccessWatch::look(uint64_t now_ns) {
    scatter_.look(now_ns);
}

void AccessWatch::look_at_burst(uint64_t now_ns) {
    if (traffic_)
        traffic_->look(now_ns);
}

void AccessWatch::forget(uint32_t pid) {
    accesses_.forget(pid);
    strides_.forget(pid);
    loops_.forget(pid);
    spinning_.forget(pid);
    scatter_.forget(pid);
    if (traffic_)
        traffic_->forget(pid);
    sharing_.forget(pid);
}

void AccessWatch::write_replays(NodeTraceWriter& file, Calibration& calibration) {
    const std::vector<MomentsOfLoop> loops = loops_.take_all();
    write_crossings(loops, std::clamp(calibration.left_ns(), kLeastReplay_ns, kMostReplay_ns), file);
    write_packed_loops(loops, kPacking_ns, file);
}

void AccessWatch::write(NodeTraceWriter& file, uint64_t sharers, Calibration& calibration) {
    strides_.write(file);
    spinning_.write(file, calibration);
    write_replays(file, calibration);
    scatter_.write(file, sharers);
    if (traffic_)
        traffic_->write(file, sharers, calibration);
    sharing_.write(file, calibration);
}

} // namespace plumb::record
