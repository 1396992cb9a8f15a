#include "record/access/walks/access_strides.h"

#include "record/access/walks/alike.h"
#include "record/access/walks/walker_key.h"
#include "record/calibrate/walk_timing.h"
#include "support/magnitude.h"

#include <algorithm>
#include <numeric>

namespace plumb::record {

namespace {

constexpr size_t kMostSites = 1 << 14, kMostCandidates = 1 << 12, kMostWalks = 12;
constexpr uint64_t kFewestSamples = 24;
constexpr uint64_t kLongestWalk = 1 << 20; // accesses: more lines than any cache near a CPU holds
constexpr uint64_t kMostTiming_ns = 500'000'000;

// Rows whose length is an odd number of lines use all sets.
uint64_t padded(uint64_t stride, uint64_t line) { return stride + line; }

} // namespace

void AccessStrides::take(const SampledAccess& access) {
    total_ns_ += access.weight_ns;
    if (caches_.empty())
        return;
    const uint64_t stride = access.move ? magnitude(access.move->stride) : 0;
    auto of_process = sites_.find(access.pid);
    const WalkerKey key{access.instruction, access.generation};
    auto known = of_process == sites_.end() ? Sites::iterator() : of_process->second.find(key);
    if (of_process == sites_.end() || known == of_process->second.end()) {
        if (stride < 2 * caches_[0].line_bytes || count_ >= kMostSites)
            return;
        ++count_;
        known = sites_[access.pid].try_emplace(key).first;
        known->second.width = access.width;
        known->second.first_ns = access.time_ns;
    }
    Site& site = known->second;
    ++site.samples;
    site.time_ns += access.weight_ns;
    if (stride == 0)
        return;
    if (stride != site.stride && --site.votes <= 0) { // a majority, found in one pass (Boyer and Moore)
        Site fresh;
        fresh.stride = stride;
        fresh.samples = site.samples;
        fresh.time_ns = site.time_ns;
        fresh.width = site.width;
        fresh.first_ns = site.first_ns;
        fresh.reference = access.address % stride;
        site = fresh;
    }
    if (stride != site.stride)
        return;
    ++site.votes;
    ++site.moved_samples;
    site.moved_time_ns += access.weight_ns;
    site.longest = std::max(site.longest, access.move->to_come);
    site.advance = std::gcd(site.advance, magnitude(static_cast<int64_t>(access.address % stride - site.reference)));
    site.lowest = std::min(site.lowest, access.address);
    site.highest = std::max(site.highest, access.address);
    site.last_address = access.address;
    site.last_ns = access.time_ns;
    site.flags |= static_cast<uint16_t>(access.flags | (access.move->stored ? trace::kAlignStore : 0u));
}

// Whether lines of one walk are met again by walks to come: these begin beside it, within its lines, or go over the same
// rows. Walks that go on to other rows each time find nothing in a cache, however the rows lie.
bool AccessStrides::comes_again(const Site& site) const {
    const uint64_t rows = (site.highest - site.lowest) / site.stride;
    return (site.advance > 0 && site.advance < caches_[0].line_bytes) || rows <= site.longest + site.longest / 2;
}

// The largest cache that would hold the lines of a walk, but does not because they share too few of its sets.
const platform::CacheLevel* AccessStrides::crowded(const Site& site, platform::SetUse& use) const {
    if (site.moved_samples < kFewestSamples || site.moved_samples * 2 < site.samples || site.longest == 0 ||
        site.longest > kLongestWalk || site.stride == 0 || !comes_again(site))
        return nullptr;
    const platform::CacheLevel* found = nullptr;
    for (const platform::CacheLevel& cache : caches_) {
        if (cache.level > 2) // shared ones take the set from a hash of the address
            break;
        const platform::SetUse seen = platform::set_use(cache, site.stride, site.longest);
        if (seen.lines > uint64_t{cache.sets} * cache.ways || seen.left_over * 2 < seen.lines)
            continue;
        if (platform::set_use(cache, padded(site.stride, cache.line_bytes), site.longest).left_over * 8 > seen.lines)
            continue;
        found = &cache;
        use = seen;
    }
    return found;
}

void AccessStrides::judge(uint32_t pid, const Sites& sites) {
    for (const auto& [key, site] : sites) {
        platform::SetUse use;
        if (const platform::CacheLevel* cache = crowded(site, use); cache && candidates_.size() < kMostCandidates)
            candidates_.push_back({pid, key, site, cache, use});
    }
}

void AccessStrides::forget(uint32_t pid) {
    const auto known = sites_.find(pid);
    if (known == sites_.end())
        return;
    judge(pid, known->second);
    count_ -= known->second.size();
    sites_.erase(known);
}

void AccessStrides::write(NodeTraceWriter& file) {
    for (const auto& [pid, sites] : sites_)
        judge(pid, sites);
    sites_.clear();
    std::ranges::stable_sort(candidates_, std::greater{}, [](const Candidate& each) { return each.site.moved_time_ns; });

    struct Timed {
        Walk walk;
        WalkTime time;
    };
    std::vector<Timed> timed;
    const uint64_t begin_ns = monotonic_ns();
    for (const Candidate& candidate : candidates_) {
        const Site& site = candidate.site;
        if (site.moved_time_ns * 100 < total_ns_) // 1 %: of one process of many as little counts
            continue;
        const uint64_t span = site.highest - site.lowest;
        Walk walk;
        walk.stride = site.stride;
        walk.padded_stride = padded(site.stride, candidate.cache->line_bytes);
        walk.accesses = site.longest;
        walk.advance = site.advance;
        walk.loads = site.flags & trace::kAlignLoad;
        walk.stores = site.flags & trace::kAlignStore;
        walk.beyond_caches = span > caches_.back().bytes();
        auto same = std::ranges::find_if(timed, [&](const Timed& other) {
            return other.walk.stride == walk.stride && other.walk.advance == walk.advance &&
                   other.walk.loads == walk.loads && other.walk.stores == walk.stores &&
                   other.walk.beyond_caches == walk.beyond_caches && alike(other.walk.accesses, walk.accesses);
        });
        if (same == timed.end()) {
            if (timed.size() >= kMostWalks || monotonic_ns() - begin_ns > kMostTiming_ns)
                continue;
            same = timed.insert(timed.end(), {walk, time_walk(walk)});
        }
        trace::AccessStride record{};
        record.pid = candidate.pid;
        record.flags = site.flags;
        record.address = candidate.key.instruction;
        record.width = site.width;
        record.level = static_cast<uint16_t>(candidate.cache->level);
        record.ways = static_cast<uint16_t>(candidate.cache->ways);
        record.line_bytes = static_cast<uint16_t>(candidate.cache->line_bytes);
        record.sets = candidate.cache->sets;
        record.sets_used = static_cast<uint32_t>(candidate.use.sets);
        record.samples = site.samples;
        record.time_ns = site.time_ns;
        record.moved_samples = site.moved_samples;
        record.moved_time_ns = site.moved_time_ns;
        record.stride = site.stride;
        record.walk = site.longest;
        record.advance = site.advance;
        record.lowest_address = site.lowest;
        record.highest_address = site.highest;
        record.last_address = site.last_address;
        record.padded_stride = walk.padded_stride;
        record.seen_ps = same->time.seen_ps;
        record.padded_ps = same->time.padded_ps;
        record.first_ns = site.first_ns;
        record.last_ns = site.last_ns;
        file.append(trace::RecordType::AccessStride, 0, record);
    }
    candidates_.clear();
}

} // namespace plumb::record
