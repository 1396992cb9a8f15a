// Strided walks among the sampled accesses: by instruction, the distance from one access to the next, how many there are
// in a walk and how walks follow each other. Of those whose lines crowd into few sets of a cache that would hold them all,
// it is measured what the same walk would cost with rows one line longer (AccessStride records, at the end of the run).
#pragma once

#include "platform/cache_levels.h"
#include "record/access/sampling/access_sampling.h"
#include "record/access/walks/walker_key.h"
#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace plumb::record {

class AccessStrides {
  public:
    // `caches`: of the machine, by level; none: nothing can be determined.
    explicit AccessStrides(std::vector<platform::CacheLevel> caches) : caches_(std::move(caches)) {}

    // An access that was sampled. About 20 ns.
    void take(const SampledAccess& access);

    void forget(uint32_t pid); // it ended: nothing more can come

    // Measures and appends what is worth it. Once, when the program has ended: takes some ten milliseconds for each
    // different walk, half a second at the most, and nothing where there is none.
    void write(NodeTraceWriter& file);

  private:
    struct Site {
        uint64_t stride = 0; // bytes, without its sign: the one that most samples have
        int64_t votes = 0;
        uint64_t samples = 0, time_ns = 0;             // all of the instruction, since it was first seen to stride
        uint64_t moved_samples = 0, moved_time_ns = 0; // of them, with this stride
        uint64_t longest = 0;                          // accesses to come in a walk, at most
        uint64_t reference = 0, advance = 0;           // greatest common divisor of the distances of walks
        uint64_t lowest = UINT64_MAX, highest = 0, last_address = 0, first_ns = 0, last_ns = 0;
        uint16_t width = 0, flags = 0;
    };
    struct Candidate {
        uint32_t pid;
        WalkerKey key;
        Site site;
        const platform::CacheLevel* cache;
        platform::SetUse use;
    };
    using Sites = std::unordered_map<WalkerKey, Site, WalkerKeyHash>;
    bool comes_again(const Site& site) const;
    const platform::CacheLevel* crowded(const Site& site, platform::SetUse& use) const;
    void judge(uint32_t pid, const Sites& sites);

    const std::vector<platform::CacheLevel> caches_;
    std::unordered_map<uint32_t, Sites> sites_; // by pid
    std::vector<Candidate> candidates_;
    size_t count_ = 0;
    uint64_t total_ns_ = 0; // of all accesses that were taken
};

} // namespace plumb::record
