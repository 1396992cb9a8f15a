<<<<<<< HEAD
// The kernel's list format for sets of CPUs and nodes: "0-3,8,10-11".
#pragma once

#include <optional>
=======
// The kernel's "list format" of CPUs, as in cpuset.cpus, Cpus_allowed_list and cpulist files: 0,2,4-7,8-14:2
#pragma once

>>>>>>> f69220e (Plan placement: CPU lists, cpusets, topology, the planner and the group's table)
#include <string>
#include <string_view>
#include <vector>

namespace plumb::platform {

<<<<<<< HEAD
// Sorted, without repeats; nothing if the text is not a list or names a number above 1,048,575. Empty text (and a
// newline at its end) is the empty set. "0-31:1/2" (every second group of one) is understood.
std::optional<std::vector<int>> parse_cpu_list(std::string_view text);

// Sorted numbers in the same format.
=======
// No CPU number reaches this; a list that names one is refused rather than expanded.
inline constexpr int kMaxCpus = 1 << 16;

// Expands `text` in the order written, repetitions kept. A range is FIRST-LAST or FIRST-LAST:STEP. White space
// around the list (the kernel's final newline) is ignored; an empty list gives an empty vector.
// Throws plumb::Error that names the part that could not be read.
std::vector<int> parse_cpu_list(std::string_view text);

// The shortest list that parse_cpu_list() turns back into `cpus`, order kept: runs of consecutive numbers become
// ranges. "" for none.
>>>>>>> f69220e (Plan placement: CPU lists, cpusets, topology, the planner and the group's table)
std::string format_cpu_list(const std::vector<int>& cpus);

} // namespace plumb::platform
