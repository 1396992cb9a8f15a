// CPUs of different kinds in one machine (performance and efficiency), where an event may count on one kind only.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plumb::record {

// The CPUs of each kind, as the kernel's devices for counters of CPUs list them. `root` is put before /sys. Empty where the
// kernel knows of one kind only.
std::vector<std::vector<int>> cpu_kinds(const std::string& root);

// Two of `allowed` that differ as much as they can: of different kinds, else the first and the last. `allowed`: sorted, not empty.
std::pair<int, int> unlike_cpus(const std::vector<std::vector<int>>& kinds, const std::vector<int>& allowed);

} // namespace plumb::record
