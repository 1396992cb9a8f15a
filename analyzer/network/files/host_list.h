// Names of nodes as launchers and batch systems write them: lists with ranges, and files with a name on each line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plumb::network {

// "nid[00012-00015,00020],login1": as Slurm writes them, several brackets in a name included. In the order written; the same name may
// come again. Throws Error naming what is wrong, and where a list comes to more than a million names.
std::vector<std::string> expand_host_list(std::string_view list);

// A list of such names, or the path of a file: one name a line (PBS_NODEFILE), Open MPI's "name slots=2", or MPICH's "name:2". A name
// comes as often as it has slots.
std::vector<std::string> read_hosts(const std::string& list_or_path);

} // namespace plumb::network
