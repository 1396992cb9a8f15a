// How much memory this process may still take without pushing anybody else's out.
#pragma once

#include <cstdint>
#include <string>

namespace plumb::platform {

// Bytes: what the kernel estimates (MemAvailable), or what is left of the memory limit of this process's cgroup (version
// 2) or of one above it, if that is less. 0: not known. `root`: "" for this machine, else a folder with a copy of its
// /proc and /sys/fs/cgroup.
uint64_t available_memory(const std::string& root);

} // namespace plumb::platform
