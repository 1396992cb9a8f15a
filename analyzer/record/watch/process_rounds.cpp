#include "record/watch/process_rounds.h"

#include <algorithm>

namespace plumb::record {

namespace {

constexpr uint64_t kShortest_ns = 100'000'000, kLongest_ns = 1'000'000'000;
constexpr uint64_t kAgeShare = 32; // of the run's age: between two rounds

} // namespace

void ProcessRounds::look(ProcessTable& processes, uint64_t now_ns, const Look& look) {
    if (now_ns < next_ns_)
        return;
    const uint64_t begin_cpu_ns = own_cpu_ns();
    std::unordered_map<uint32_t, Known> living;
    for (const uint32_t pid : processes.living()) {
        const Process* process = processes.find(pid);
        if (!process || process->flags & trace::kSeenDormant)
            continue;
        Known& known = living[pid];
        if (const auto before = known_.find(pid); before != known_.end() && before->second.generation == process->generation)
            known = before->second;
        known.generation = process->generation;
        look(*process, known.record);
    }
    known_ = std::move(living);
    next_ns_ = now_ns + std::max(std::clamp((now_ns - begin_ns_) / kAgeShare, kShortest_ns, kLongest_ns),
                                 (own_cpu_ns() - begin_cpu_ns) * cost_factor_);
}

} // namespace plumb::record
