// Makes room on NUMA nodes before a program starts: cached file pages that fill a node push the program's memory to
// other nodes, and only root may drop them. Memory that is allocated and touched on the node drives them out; it is given
// back at once, and the pages stay free.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace plumb::record {

struct SweepLimits {
    uint64_t most_bytes = UINT64_MAX; // touched on each node
    double most_seconds = 30;         // for all nodes together
};

struct SweptNode {
    int node = 0;
    uint64_t file_bytes_before = 0, file_bytes_after = 0;
    uint64_t free_bytes_before = 0, free_bytes_after = 0;
};

// Sweeps every node that this process may allocate on, one after another, each from a child process of its own. The child
// stops when hardly any file page is left, when those that are left do not give way (they are in use, or dirty, or of a
// tmpfs: going on would swap other memory out), or at a limit; if memory runs out all the same, the kernel ends the child
// and no one else. Interrupting this process ends it. Roots are "/proc" and "/sys" except in tests.
std::vector<SweptNode> sweep_nodes(const SweepLimits& limits, const std::string& proc_root = "/proc",
                                   const std::string& sys_root = "/sys");

// "node 0: 812 MiB of cached files gave way, 950 MiB are free; node 1: ..."
std::string sweep_words(const std::vector<SweptNode>& nodes);

} // namespace plumb::record
