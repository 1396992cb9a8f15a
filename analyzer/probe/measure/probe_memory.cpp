#include "probe/measure/probe_memory.h"

#include "platform/available_memory.h"
#include "platform/cache_levels.h"
#include "platform/numa_nodes.h"
#include "support/error.h"

#include <algorithm>
#include <atomic>
#include <set>

namespace plumb::probe {

namespace {

constexpr uint64_t kLeastArena = 64u << 20, kUnknownCache = 32u << 20, kArenaCaches = 4;
// The small pages that are measured, those that they move to, and one lot that they have left. More are kept where memory is free
// all the same.
constexpr uint64_t kSmallPageArenas = 3;
constexpr size_t kMostLeft = 12; // about the moves of one probe: in it no page is then used twice
constexpr uint64_t kUnknownInnerCache = 256u << 10, kLeastRing = 16u << 10, kMostRing = 8u << 20, kHugePage = 2u << 20;

// A quarter of the second cache: in half of it, which lines fit into its sets would depend on the pages that a CPU happens to
// get.
uint64_t ring_bytes(int cpu) {
    const auto caches = platform::read_cache_levels("", cpu);
    uint64_t inner = caches.empty() ? kUnknownInnerCache : caches.front().bytes();
    for (const platform::CacheLevel& level : caches)
        if (level.level == 2)
            inner = level.bytes();
    return std::clamp(inner / 4, kLeastRing, kMostRing);
}

// At most a quarter of the free memory in all.
uint64_t arena_bytes(const std::vector<platform::CpuPath>& paths, size_t nodes) {
    uint64_t largest = 0;
    std::set<int> caches;
    for (const platform::CpuPath& path : paths) {
        largest = std::max(largest, path.cache_bytes ? path.cache_bytes : kUnknownCache);
        caches.insert(path.cache);
    }
    const uint64_t wanted = std::max(kLeastArena, kArenaCaches * largest), count = caches.size() + nodes + kSmallPageArenas;
    const uint64_t available = platform::available_memory("");
    return available ? std::clamp(available / 4 / count, kLeastArena / 4, wanted) : wanted;
}

} // namespace

ProbeMemory::ProbeMemory(Crew& crew, const std::vector<platform::CpuPath>& paths, bool is_short) {
    const auto nodes = platform::read_numa_nodes("/sys");
    const uint64_t each = arena_bytes(paths, nodes.size());
    const auto node_of = [&](const platform::CpuPath& path) { return nodes.size() > 1 ? path.node : -1; };
    for (const platform::CpuPath& path : paths) {
        MemberMemory member;
        member.ring = std::make_unique<Arena>(std::max(ring_bytes(path.cpu), kHugePage), node_of(path), Pages::huge);
        auto& arena = arenas_[path.cache];
        if (!arena)
            arena = std::make_unique<Arena>(each, node_of(path), Pages::huge);
        member.arena = arena.get();
        of_nodes_.try_emplace(path.node, arena.get());
        members_.push_back(std::move(member));
    }
    if (!is_short) {
        for (const platform::NumaNode& node : nodes)
            if (nodes.size() > 1 && node.total_bytes > 0 && !of_nodes_.contains(node.node))
                of_nodes_[node.node] = other_arenas_.emplace_back(std::make_unique<Arena>(each, node.node, Pages::huge)).get();
        small_pages_ = std::make_unique<Arena>(each, node_of(paths.front()), Pages::small);
    }
    fill(crew, paths);
}

void ProbeMemory::move_small_pages() {
    const uint64_t available = platform::available_memory("");
    const bool has_room = available / 4 > small_pages_->bytes();
    small_pages_->move(has_room ? kMostLeft : 0);
}

// Each arena by a CPU of its last cache: where the kernel cannot be asked for a node, memory comes from where it is touched.
void ProbeMemory::fill(Crew& crew, const std::vector<platform::CpuPath>& paths) {
    std::vector<Crew::Order> orders;
    std::set<int> taken;
    std::atomic<bool> failed{false};
    const auto fill_one = [&failed](Arena* arena) {
        if (arena && !arena->fill())
            failed = true;
    };
    for (size_t i = 0; i < paths.size(); ++i) {
        const bool fills = taken.insert(paths[i].cache).second;
        orders.push_back({i, [this, i, fills, fill_one, cpu = paths[i].cpu] {
            MemberMemory& own = members_[i];
            fill_one(own.ring.get());
            if (own.ring->ring_place())
                own.ring->set_ring_place(build_ring(own.ring->data(), ring_bytes(cpu)));
            if (fills)
                fill_one(own.arena);
            if (i == 0)
                fill_one(small_pages_.get());
        }});
    }
    crew.run(orders);
    for (const auto& arena : other_arenas_)
        if (!arena->fill())
            std::erase_if(of_nodes_, [&](const auto& entry) { return entry.second == arena.get(); });
    if (failed)
        throw Error("there is not enough free memory to measure it; probe fewer CPUs with --cpus, or free some");
}

} // namespace plumb::probe
