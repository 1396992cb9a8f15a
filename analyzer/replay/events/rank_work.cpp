#include "replay/events/rank_work.h"

#include <bit>

namespace plumb::replay {

// The same in all processes, so that trace::MixedHash, which has a secret, does not do.
uint64_t shape_of(const Job& job) {
    uint64_t hash = job.ranks.size();
    const auto add = [&hash](uint64_t number) {
        hash = (hash ^ number) * 0x9e3779b97f4a7c15;
        hash ^= hash >> 32;
    };
    add(job.collective_stride);
    add(job.message_stride);
    for (const Rank& rank : job.ranks) {
        add(static_cast<uint64_t>(static_cast<uint32_t>(rank.rank)) << 32 | rank.process);
        add(static_cast<uint64_t>(rank.host) << 32 | rank.comms.size());
        add(rank.clock.origin_ticks);
        add(static_cast<uint64_t>(rank.clock.origin));
        if (rank.clock.shift)
            add(std::bit_cast<uint64_t>(rank.clock.shift->at(static_cast<double>(rank.clock.origin))));
    }
    for (const Communicator& comm : job.comms) {
        add(comm.group_hash);
        add(static_cast<uint64_t>(comm.ordinal) << 32 | comm.recorded);
        add(comm.sampled.size());
    }
    return hash;
}

} // namespace plumb::replay
