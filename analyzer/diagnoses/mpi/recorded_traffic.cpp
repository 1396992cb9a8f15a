#include "diagnoses/mpi/recorded_traffic.h"

#include <plumb/trace_format.h>

#include <algorithm>

namespace plumb {

std::optional<network::RecordedTraffic> recorded_traffic(const model::Run& run, const model::MpiJob& job) {
    using Direction = model::MpiPeer::Direction;
    if (static_cast<int>(job.ranks.size()) < job.size)
        return std::nullopt;
    network::RecordedTraffic recorded;
    recorded.host_of.resize(job.ranks.size());
    recorded.cpus_of.resize(job.ranks.size());
    std::vector<network::PairTraffic> pairs;
    const auto size = static_cast<uint32_t>(job.size);
    for (const model::MpiRankRow& row : job.ranks) {
        const auto rank = static_cast<uint32_t>(row.rank);
        recorded.host_of[rank] = run.hosts[row.host].name;
        recorded.cpus_of[rank] = static_cast<uint32_t>(std::max(0, run.hosts[row.host].cpu_count));
        const model::MpiProcess& mpi = *run.processes[row.process].mpi;
        for (const model::MpiPeer& peer : mpi.peers) {
            if (peer.direction == Direction::received) // the sender has it
                continue;
            if (peer.peer < 0 || static_cast<uint32_t>(peer.peer) >= size) {
                recorded.unplaced_messages += peer.messages;
                recorded.unplaced_bytes += peer.bytes;
                continue;
            }
            const auto other = static_cast<uint32_t>(peer.peer);
            const bool gets = peer.direction == Direction::got;
            pairs.push_back({gets ? other : rank, gets ? rank : other, peer.messages, peer.bytes});
        }
        for (const model::MpiSite& site : mpi.sites)
            if (site.kind & trace::kMpiCollectiveCall)
                recorded.collective_bytes += static_cast<double>(site.sent_bytes);
    }
    recorded.traffic = network::Traffic::of(size, std::move(pairs));
    return recorded;
}

} // namespace plumb
