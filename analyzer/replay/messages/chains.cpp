#include "replay/messages/chains.h"

#include "replay/messages/turns.h"

#include <algorithm>
#include <map>
#include <set>

namespace plumb::replay {

namespace {

constexpr double kOwnWork = 0.6; // of a wait: from here on it is one rank's work and no chain

std::map<uint32_t, Nanoseconds> by_row(const Causes& causes) {
    std::map<uint32_t, Nanoseconds> sums;
    for (const Causes::Part& part : causes.parts)
        sums[part.row] += part.length;
    return sums;
}

} // namespace

uint32_t Causes::main_row() const {
    const auto sums = by_row(*this);
    const auto most = std::ranges::max_element(sums, {}, [](const auto& entry) { return entry.second; });
    return most == sums.end() ? UINT32_MAX : most->first;
}

bool Causes::is_serial() const {
    if (parts.size() < 2)
        return false;
    Nanoseconds length = 0, most = 0;
    for (const auto& [row, sum] : by_row(*this)) {
        length += sum;
        most = std::max(most, sum);
    }
    return static_cast<double>(most) <= kOwnWork * static_cast<double>(length);
}

const PeerWait* last_wait(const MatchedMessages& messages, uint32_t row, Nanoseconds begin, Nanoseconds end) {
    const std::span<const PeerWait> waits = messages.waits_of(row);
    // Waits of one thread follow each other: the last that began before `end` is the last that ended by then, or the one
    // before it.
    auto wait = std::upper_bound(waits.begin(), waits.end(), end,
                                 [](Nanoseconds moment, const PeerWait& entry) { return moment <= entry.begin; });
    for (int tries = 0; tries < 2 && wait != waits.begin(); ++tries) {
        --wait;
        if (wait->end <= end)
            return wait->end > begin ? &*wait : nullptr;
    }
    return nullptr;
}

Causes causes_of(const MatchedMessages& messages, const PeerWait& wait) {
    Causes causes;
    uint32_t row = wait.awaited;
    Nanoseconds end = wait.end;
    while (causes.parts.size() + 1 < Causes::kMostParts) {
        const PeerWait* before = last_wait(messages, row, wait.begin, end);
        if (!before || before->end >= end || before->begin >= before->end)
            break;
        causes.parts.push_back({row, end - before->end});
        end = before->end;
        row = before->awaited;
    }
    causes.parts.push_back({row, end - wait.begin});
    return causes;
}

model::MpiChains find_chains(const model::Run& run, const Job& job, const MatchedMessages& messages, Nanoseconds least,
                             std::vector<Nanoseconds>& caused) {
    model::MpiChains chains;
    std::map<SiteOfWait, Nanoseconds> by_site;
    Nanoseconds sum = 0;
    uint64_t ranks = 0;
    for (const PeerWait& wait : messages.waits) {
        const Causes causes = causes_of(messages, wait);
        for (const Causes::Part& part : causes.parts)
            accumulate(caused[part.row], part.length * static_cast<Nanoseconds>(wait.weight));
        Nanoseconds serial = wait.length();
        std::set<uint32_t> involved = {wait.waiter};
        if (causes.is_serial()) {
            for (const Causes::Part& part : causes.parts)
                involved.insert(part.row);
        } else if (const auto turn = turn_of(messages, wait.waiter, wait.awaited, wait.begin, wait.end, least)) {
            involved.insert(wait.awaited);
            serial = turn->overlap;
        } else {
            continue;
        }
        serial *= static_cast<Nanoseconds>(wait.weight);
        chains.waits += wait.weight;
        ranks += involved.size() * wait.weight;
        accumulate(sum, serial);
        accumulate(by_site[{wait.waiter, wait.wait_site}], serial);
        if (involved.size() > chains.longest) {
            chains.longest = static_cast<uint32_t>(involved.size());
            chains.longest_ranks = {job.ranks[wait.waiter].rank};
            for (const Causes::Part& part : causes.parts)
                if (const int rank = job.ranks[part.row].rank; chains.longest_ranks.size() < Causes::kMostParts &&
                                                               std::ranges::find(chains.longest_ranks, rank) ==
                                                                   chains.longest_ranks.end())
                    chains.longest_ranks.insert(chains.longest_ranks.begin(), rank);
        }
    }
    chains.wait_s = seconds(sum);
    if (chains.waits)
        chains.mean_length = static_cast<double>(ranks) / static_cast<double>(chains.waits);
    const auto most = std::ranges::max_element(by_site, {}, [](const auto& entry) { return entry.second; });
    if (most != by_site.end()) {
        const uint32_t process = job.ranks[most->first.row].process;
        const model::MpiSite& site = run.processes[process].mpi->sites[most->first.site];
        chains.process = process;
        chains.path = site.path;
        chains.call = site.call;
        Nanoseconds same_call = 0; // one function waits at all ranks, each with call sites of its own
        for (const auto& [at, length] : by_site)
            if (run.processes[job.ranks[at.row].process].mpi->sites[at.site].call == site.call)
                same_call += length;
        chains.site_share = sum ? static_cast<double>(same_call) / static_cast<double>(sum) : 0;
    }
    return chains;
}

} // namespace plumb::replay
