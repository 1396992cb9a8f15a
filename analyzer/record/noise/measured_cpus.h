// On which CPUs `plumb noise` may measure, and on which it shall.
#pragma once

#include <string>
#include <vector>

namespace plumb::record {

// Those that this process may use, sorted; with `beyond_launcher` also those that a launcher's binding of this rank took away,
// as far as the kernel (cpusets) lets it.
std::vector<int> usable_cpus(bool beyond_launcher);

// `wanted`: "all", or a list as "0,2-5". Throws UsageError: no list, no CPU in it, or CPUs that are not there or not usable.
std::vector<int> measured_cpus(const std::string& wanted, const std::vector<int>& usable, int configured);

} // namespace plumb::record
