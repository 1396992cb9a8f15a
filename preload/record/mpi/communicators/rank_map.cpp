#include "record/mpi/communicators/rank_map.h"

#include "platform/os/memory.h"

#include <string.h>

namespace plumb::shim::mpi {
namespace {
constexpr uint32_t kLargest = 1u << 24; // 64 MiB of table
}

void RankMap::set(const int32_t* ranks, uint32_t count) {
    *this = {count, count ? ranks[0] : 0, count > 1 ? ranks[1] - ranks[0] : 1, nullptr, true};
    bool is_regular = true;
    for (uint32_t i = 0; i < count; ++i) {
        known &= ranks[i] >= 0;
        is_regular &= ranks[i] == first + static_cast<int32_t>(i) * stride;
    }
    if (!known || is_regular)
        return;
    int32_t* const own = count <= kLargest ? static_cast<int32_t*>(allocate_pages(count * sizeof(int32_t), true))
                                           : nullptr;
    known = own != nullptr;
    if (own)
        memcpy(own, ranks, count * sizeof(int32_t));
    table = own;
}

void RankMap::release() {
    if (table)
        release_pages(const_cast<int32_t*>(table), size * sizeof(int32_t));
    *this = {};
}

uint64_t hash_of_ranks(const int32_t* ranks, uint32_t count) {
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; ++i)
        hash = mix(hash, static_cast<uint32_t>(ranks[i]));
    return hash;
}

uint64_t hash_of_ranks(const RankMap& map) {
    uint64_t hash = map.size;
    for (uint32_t i = 0; i < map.size; ++i)
        hash = mix(hash, static_cast<uint32_t>(map.world_rank(static_cast<int32_t>(i))));
    return hash;
}

} // namespace plumb::shim::mpi
