#include "replay/turns_before_collectives.h"

#include <algorithm>

namespace plumb::replay {

void add_turns(const model::Run& run, const Job& job, const std::vector<RankCharge>& charges, uint64_t stride,
               model::MpiChains& chains) {
    RankCharge::Turns all;
    std::vector<int> ranks; // of the site that waited longest: who came first, who waited for it
    Nanoseconds most = 0;
    for (size_t row = 0; row < charges.size(); ++row) {
        const RankCharge::Turns& turns = charges[row].turns;
        all.count += turns.count;
        accumulate(all.overlap, turns.overlap);
        for (const auto& [site, overlap] : turns.by_site) {
            accumulate(all.by_site[site], overlap);
            if (overlap > most) {
                most = overlap;
                ranks = {job.ranks[row].rank, job.ranks.at(site.row).rank};
            }
        }
    }
    if (all.by_site.empty())
        return;
    const double scale = static_cast<double>(stride), overlap_s = seconds(all.overlap) * scale;
    const auto site = std::ranges::max_element(all.by_site, {}, [](const auto& entry) { return entry.second; });
    const Nanoseconds of_site = site->second;
    if (seconds(of_site) * scale > chains.site_share * chains.wait_s) {
        const model::Process& process = run.processes[job.ranks[site->first.row].process];
        chains.process = job.ranks[site->first.row].process;
        chains.path = process.mpi->sites.at(site->first.site).path;
        chains.call = process.mpi->sites[site->first.site].call;
        chains.site_share = seconds(of_site) * scale / (chains.wait_s + overlap_s);
    } else {
        chains.site_share *= chains.wait_s / (chains.wait_s + overlap_s);
    }
    const auto waits = static_cast<double>(chains.waits), turns = static_cast<double>(all.count * stride);
    chains.mean_length = (chains.mean_length * waits + 2 * turns) / (waits + turns);
    chains.waits += all.count * stride;
    chains.wait_s += overlap_s;            // of the waits for messages
    chains.collective_wait_s += overlap_s; // of those in the collectives that followed
    if (chains.longest < 2) {
        chains.longest = 2;
        chains.longest_ranks = ranks;
    }
}

} // namespace plumb::replay
