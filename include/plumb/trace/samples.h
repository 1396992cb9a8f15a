// The call-path tree, and time samples at its leaves.
#pragma once

#include <plumb/trace/file.h>

namespace plumb::trace {

// The call-path tree: `address` was reached from `parent`. For a leaf of a sample it is the instruction itself,
// for every other node the return address (a reader looks up address - 1).
struct PathNode {
    RecordHeader header;
    NodeId id;        //  8
    NodeId parent;    // 12  0: outermost frame
    Address address;  // 16
    uint32_t pid;     // 24  whose address space; 0: the file's own process
    uint32_t flags;   // 28  PathNodeFlags
};
static_assert(sizeof(PathNode) == 32);
enum PathNodeFlags : uint32_t {
    kPathLeaf = 1u << 0,      // a sampled instruction, not a return address
    kPathKernel = 1u << 1,    // a kernel address
    kPathTruncated = 1u << 2, // there were frames further out
};

struct SampleSite {
    RecordHeader header; //     header.tid: the thread
    uint32_t pid;        //  8
    NodeId path;         // 12  its leaf
    uint64_t samples;    // 16
    uint64_t time_ns;    // 24  what they stand for
    uint64_t kernel;     // 32  how many of them were taken in the kernel
    uint64_t first_ns;   // 40
    uint64_t last_ns;    // 48
    uint64_t alone_ns;   // 56  1.6: of time_ns, while no other thread of the process was on a CPU or preempted
};
static_assert(sizeof(SampleSite) == 64);

} // namespace plumb::trace
