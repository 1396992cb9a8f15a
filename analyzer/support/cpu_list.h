// Sets of CPUs as people write them.
#pragma once

#include <string>
#include <vector>

namespace plumb {

// 0,1,2,3,8 -> "0-3,8": the list format of the kernel. Expects sorted numbers.
std::string format_cpu_list(const std::vector<int>& cpus);

} // namespace plumb
