// The kernel's list format for sets of CPUs and nodes: "0-3,8,10-11".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace plumb::platform {

// Sorted, without repeats; nothing if the text is not a list or names a number above 65,535. Empty text (and a
// newline at its end) is the empty set. "0-31:1/2" (every second group of one) is understood.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// Sorted numbers in the same format.
std::string format_cpu_list(const std::vector<int>& cpus);

} // namespace plumb::platform
