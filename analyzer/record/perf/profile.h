// The call-path trees of the run's processes, and how often each thread was seen at each path. Samples are never
// stored one by one: a count is updated in place, so that the file does not grow with time.
#pragma once

#include "record/perf/perf_record.h"
#include "record/perf/process_table.h"
#include "record/run/node_trace_writer.h"
#include "unwind/stack_unwinder.h"

#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace plumb::record {

// The chain of one sample, outermost frame first, ready for the tree: the kernel's part as the kernel gave it, the
// user's from the copied stack where there is one, else from frame pointers. Addresses of the user's stack that are in
// no executable mapping end the chain: what is above them is unknown.
class CallChain {
  public:
    struct Step {
        uint64_t address;
        uint32_t flags; // trace::PathNodeFlags
        bool operator==(const Step&) const = default;
    };

    // Valid until the next one is asked for.
    std::vector<Step>& steps_of(const PerfRecord& sample, const Process& process, unwind::StackUnwinder& unwinder);

  private:
    // Of one thread, of the processes' images and mappings that these numbers stand for.
    struct Latest {
        uint32_t tid = 0;
        uint64_t generation = 0, modules_version = 0;
        unwind::WalkedStack walk;
    };
    unwind::WalkedStack& latest_walk(const PerfRecord& sample, const Process& process);

    std::vector<uint64_t> kernel_; // innermost first; kept for its room, as all here
    unwind::UnwoundStack user_;
    std::vector<Step> steps_;
    std::array<Latest, 64> latest_; // by tid; threads that share a place take turns
};

class Profile {
  public:
    // `most_bytes_each`: of the file for one process; beyond that samples are counted at the deepest known path.
    Profile(NodeTraceWriter& file, ProcessTable& processes, uint64_t most_bytes_each)
        : file_(file), processes_(processes), most_bytes_each_(most_bytes_each) {}

    // A sample that stands for `weight_ns` of CPU time. `alone`: no other thread of its process was active. Returns where the
    // tree has it, 0: nowhere.
    trace::NodeId take(const PerfRecord& sample, uint64_t weight_ns, bool alone = false);

    // Puts the call path of a sample that is no time sample into the tree: its node, 0: there is no room.
    trace::NodeId place(const PerfRecord& sample);

    // The chain of the thread's latest sample, outermost frame first; empty: it is not kept any more.
    std::span<const CallChain::Step> latest_chain(uint32_t tid) const {
        const LatestPath& latest = latest_[tid % latest_.size()];
        return latest.tid == tid ? std::span<const CallChain::Step>(latest.steps) : std::span<const CallChain::Step>();
    }

    void forget(uint32_t pid); // it ended: nothing more can come

    unwind::StackUnwinder& images() { return unwinder_; } // what it knows of the programs' files serves others too

    uint64_t samples() const { return samples_; }
    uint64_t cut_chains() const { return cut_chains_; }

  private:
    struct NodeKey {
        uint32_t parent;
        uint32_t flags;
        uint64_t address;
        bool operator==(const NodeKey&) const = default;
    };
    struct NodeHash {
        size_t operator()(const NodeKey& key) const {
            return (key.address ^ (uint64_t{key.parent} << 32 | key.flags)) * 0x9e3779b97f4a7c15u >> 7;
        }
    };
    // The latest path of a thread: most of the outer frames of the next one are the same.
    struct LatestPath {
        uint32_t tid = 0;
        uint64_t generation = 0;
        std::vector<CallChain::Step> steps;
        std::vector<uint32_t> nodes; // of as many steps as found room
    };
    struct Tree {
        uint64_t generation = 0;
        uint64_t bytes = 0; // of the file
        std::unordered_map<NodeKey, uint32_t, NodeHash> nodes;
        std::unordered_map<uint64_t, trace::SampleSite*> sites; // tid << 32 | path
    };
    size_t depth_for(const Tree& tree) const;
    Tree& tree_of(const Process& process);
    uint32_t path_of(const PerfRecord& sample, Process& process, Tree& tree, bool& found_room);
    uint32_t child_of(Tree& tree, uint32_t pid, uint32_t parent, uint64_t address, uint32_t flags, bool& found_room);

    NodeTraceWriter& file_;
    ProcessTable& processes_;
    uint64_t most_bytes_each_;
    uint32_t nodes_ = 0; // ids given
    uint64_t samples_ = 0, cut_chains_ = 0;
    std::unordered_map<uint32_t, Tree> trees_; // by pid
    unwind::StackUnwinder unwinder_;
    CallChain chain_;
    std::array<LatestPath, 64> latest_; // by tid
};

} // namespace plumb::record
