#include "replay/events/job.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace plumb::replay {

namespace {

uint64_t mixed(uint64_t number) { // the finaliser of splitmix64
    number += 0x9e3779b97f4a7c15;
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9;
    number = (number ^ number >> 27) * 0x94d049bb133111eb;
    return number ^ number >> 31;
}

uint32_t host_of(const model::Run& run, const std::string& name) {
    const auto found = std::ranges::find(run.hosts, name, &model::Host::name);
    return found == run.hosts.end() ? 0 : static_cast<uint32_t>(found - run.hosts.begin());
}

void find_communicators(const model::Run& run, Job& job) {
    std::map<std::tuple<uint64_t, uint32_t, uint32_t>, uint32_t> known;
    std::vector<std::vector<uint32_t>> members; // rows
    for (uint32_t row = 0; row < job.ranks.size(); ++row) {
        Rank& rank = job.ranks[row];
        for (const model::MpiComm& comm : run.processes[rank.process].mpi->comms) {
            if (comm.self || !(rank.comms.empty() || rank.comms.back().id < comm.id))
                continue; // nobody waits for himself; an id that comes twice is damage
            const auto place = static_cast<uint32_t>(job.comms.size());
            const auto [found, is_new] = known.try_emplace({comm.group_hash, comm.ordinal, comm.size}, place);
            if (is_new) {
                job.comms.push_back({.group_hash = comm.group_hash,
                                     .ordinal = comm.ordinal,
                                     .size = comm.size,
                                     .world = comm.world,
                                     .inter = comm.inter,
                                     .kind = comm.kind,
                                     .name = comm.name,
                                     .recorded = 0,
                                     .sampled = {}});
                members.emplace_back();
            }
            Communicator& shared = job.comms[found->second];
            if (shared.name.empty())
                shared.name = comm.name;
            shared.recorded++;
            members[found->second].push_back(row);
            rank.comms.push_back({.id = comm.id, .comm = found->second, .member = comm.rank});
        }
    }
    for (size_t comm = 0; comm < members.size(); ++comm) {
        std::vector<uint32_t>& rows = members[comm];
        if (rows.size() > Communicator::kMostSampled) {
            std::ranges::nth_element(rows, rows.begin() + Communicator::kMostSampled, {}, mixed);
            rows.resize(Communicator::kMostSampled);
        }
        std::ranges::sort(rows);
        job.comms[comm].sampled = std::move(rows);
    }
    for (uint32_t row = 0; row < job.ranks.size(); ++row)
        for (Membership& membership : job.ranks[row].comms) {
            const std::vector<uint32_t>& sampled = job.comms[membership.comm].sampled;
            const auto found = std::ranges::lower_bound(sampled, row);
            if (found != sampled.end() && *found == row)
                membership.slot = static_cast<uint32_t>(found - sampled.begin());
        }
}

} // namespace

const Rank* Job::find(int rank) const {
    const auto found = std::ranges::lower_bound(ranks, rank, {}, &Rank::rank);
    return found == ranks.end() || found->rank != rank ? nullptr : &*found;
}

std::vector<Job> find_jobs(const model::Run& run) {
    using Key = std::tuple<std::string, bool, int, uint32_t>; // name, spawned, size, how often the rank came before
    std::map<Key, std::vector<Rank>> groups;
    std::map<std::tuple<std::string, bool, int, int>, uint32_t> times;
    for (uint32_t process = 0; process < run.processes.size(); ++process) { // in order of their begin
        const auto& mpi = run.processes[process].mpi;
        if (!mpi || mpi->rank < 0)
            continue;
        const uint32_t before = times[{mpi->job, mpi->spawned, mpi->size, mpi->rank}]++;
        Rank& rank = groups[{mpi->job, mpi->spawned, mpi->size, before}].emplace_back();
        rank.rank = mpi->rank;
        rank.process = process;
        rank.host = host_of(run, run.processes[process].host);
    }
    std::vector<Job> jobs;
    for (auto& [key, ranks] : groups) {
        Job& job = jobs.emplace_back();
        job.name = std::get<0>(key);
        job.spawned = std::get<1>(key);
        job.size = std::get<2>(key);
        job.ranks = std::move(ranks);
        std::ranges::sort(job.ranks, {}, &Rank::rank);
        for (const Rank& rank : job.ranks) {
            const model::MpiProcess& mpi = *run.processes[rank.process].mpi;
            job.collective_stride = std::max(job.collective_stride, mpi.collective_stride);
            job.message_stride = std::max(job.message_stride, mpi.message_stride);
        }
        find_communicators(run, job);
    }
    return jobs;
}

} // namespace plumb::replay
