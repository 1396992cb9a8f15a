// Which machine this is, without an id of it.
#pragma once

#include "probe/measured.h"

namespace plumb::probe {

// `root`: "" for this machine, else a folder with a copy of its /proc and /sys. The host and the kernel are always those that
// run.
MachineFacts machine_facts(const std::string& root, int first_cpu);

} // namespace plumb::probe
