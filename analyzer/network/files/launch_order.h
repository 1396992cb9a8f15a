// An order of ranks in the forms that launchers take.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::network {

enum class LaunchForm { rankfile, mpich_rank_order, hostfile, slurm };

struct LaunchOrder {
    std::string text;   // of the file
    std::string usage;  // how to start the job with it, and what must hold for it
};

// `host_of`: of each rank, as the launcher calls it. `slot_of`: of each rank: the rank that has its slot now. `cpus_of`: CPUs of its host,
// 0: not known; empty: of none.
LaunchOrder launch_order(LaunchForm form, std::span<const std::string> host_of, std::span<const uint32_t> slot_of, std::string_view path,
                         std::span<const uint32_t> cpus_of = {});

// Open MPI's rankfile. `cores_of`: that each rank may use, those of one cache: numbers of hwloc, as Open MPI numbers slots.
LaunchOrder rankfile_of_cores(std::span<const std::string> host_of, std::span<const std::vector<int>> cores_of, std::string_view path);

} // namespace plumb::network
