#include "network/files/launch_order.h"

#include "support/cpu_list.h"

#include <fmt/format.h>
#include <map>
#include <utility>

namespace plumb::network {

namespace {

// Of each rank: how many of lower number its host has.
std::vector<uint32_t> positions_on_hosts(std::span<const std::string> host_of) {
    std::map<std::string_view, uint32_t> taken;
    std::vector<uint32_t> positions;
    for (const std::string& host : host_of)
        positions.push_back(taken[host]++);
    return positions;
}

// Ranks that share cores must leave them while they wait: Open MPI looks for messages without a pause where a rankfile binds them, whatever
// else is asked for.
std::string rankfile_usage(size_t ranks, std::string_view path, bool shares_cores, std::string_view note) {
    return fmt::format("mpirun -n {} --rankfile {} {}PROGRAM (Open MPI; {})", ranks, path, shares_cores ? "--mca mpi_yield_when_idle 1 " : "", note);
}

// Open MPI, mpirun --rankfile: a slot is a core of the host. Ranks of hosts that have more of them than CPUs get all CPUs: mpirun refuses
// slots that are not there.
LaunchOrder rankfile(std::span<const std::string> host_of, std::span<const uint32_t> cpus_of, std::string_view path) {
    LaunchOrder order;
    bool shares_cores = false;
    const std::vector<uint32_t> positions = positions_on_hosts(host_of);
    std::map<std::string_view, uint32_t> ranks_on;
    for (const std::string& host : host_of)
        ++ranks_on[host];
    for (size_t rank = 0; rank < host_of.size(); ++rank) {
        const uint32_t cpus = rank < cpus_of.size() ? cpus_of[rank] : 0;
        const bool is_crowded = cpus > 0 && ranks_on[host_of[rank]] > cpus;
        shares_cores |= is_crowded;
        order.text += fmt::format("rank {}={} slot={}\n", rank, host_of[rank],
                                  is_crowded ? fmt::format("0-{}", cpus - 1) : std::to_string(positions[rank]));
    }
    order.usage = rankfile_usage(host_of.size(), path, shares_cores,
                                 "each rank has a core of its own where its host has enough; ranks with several threads need ranges of cores");
    return order;
}

// Cray MPICH: ranks in the order in which the launcher hands out its slots, node by node.
LaunchOrder mpich_rank_order(std::span<const uint32_t> slot_of, std::string_view path) {
    std::vector<uint32_t> rank_in(slot_of.size());
    for (uint32_t rank = 0; rank < slot_of.size(); ++rank)
        rank_in[slot_of[rank]] = rank;
    LaunchOrder order;
    constexpr size_t kEachLine = 20;
    for (size_t slot = 0; slot < rank_in.size(); ++slot)
        order.text += fmt::format("{}{}", rank_in[slot], slot + 1 == rank_in.size() ? "\n" : (slot + 1) % kEachLine == 0 ? ",\n" : ",");
    order.usage = fmt::format("MPICH_RANK_REORDER_METHOD=3 with this file as MPICH_RANK_ORDER in the folder where the job starts (Cray MPICH; "
                              "written to {}), the job otherwise started as the recorded one was", path);
    return order;
}

// One line for each rank: MPICH and Intel MPI hand out hosts line by line.
LaunchOrder hostfile(std::span<const std::string> host_of, std::string_view path) {
    LaunchOrder order;
    for (size_t rank = 0; rank < host_of.size();) {
        size_t end = rank + 1;
        while (end < host_of.size() && host_of[end] == host_of[rank])
            ++end;
        order.text += fmt::format("{}:{}\n", host_of[rank], end - rank);
        rank = end;
    }
    order.usage = fmt::format("mpiexec -n {} -f {} PROGRAM (MPICH, Intel MPI)", host_of.size(), path);
    return order;
}

LaunchOrder slurm(std::span<const std::string> host_of, std::string_view path) {
    LaunchOrder order;
    for (const std::string& host : host_of)
        order.text += host + "\n";
    order.usage = fmt::format("SLURM_HOSTFILE={} srun -n {} --distribution=arbitrary PROGRAM", path, host_of.size());
    return order;
}

} // namespace

LaunchOrder launch_order(LaunchForm form, std::span<const std::string> host_of, std::span<const uint32_t> slot_of, std::string_view path,
                         std::span<const uint32_t> cpus_of) {
    switch (form) {
    case LaunchForm::rankfile:
        return rankfile(host_of, cpus_of, path);
    case LaunchForm::mpich_rank_order:
        return mpich_rank_order(slot_of, path);
    case LaunchForm::hostfile:
        return hostfile(host_of, path);
    case LaunchForm::slurm:
        break;
    }
    return slurm(host_of, path);
}

LaunchOrder rankfile_of_cores(std::span<const std::string> host_of, std::span<const std::vector<int>> cores_of, std::string_view path) {
    LaunchOrder order;
    std::map<std::pair<std::string_view, int>, size_t> ranks_of_first; // of each cache, by host and first core
    bool shares_cores = false;
    for (size_t rank = 0; rank < host_of.size(); ++rank) {
        const std::vector<int>& cores = cores_of[rank];
        order.text += fmt::format("rank {}={} slot={}\n", rank, host_of[rank], format_cpu_list(cores));
        shares_cores |= !cores.empty() && ++ranks_of_first[{host_of[rank], cores.front()}] > cores.size();
    }
    order.usage = rankfile_usage(host_of.size(), path, shares_cores, "each rank may use the cores of its cache, as hwloc numbers them");
    return order;
}

} // namespace plumb::network
