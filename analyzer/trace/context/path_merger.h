// Merges the call-path nodes of several files (each with ids of its own) into one tree for each process.
#pragma once

#include "model/run.h"
#include "trace/context/allowance.h"
#include "trace/file/id_index.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace plumb::trace {

// The tree of one process under construction: equal nodes are one.
class PathTree {
  public:
    // Index in `paths` of the child of `parent` that equals `node`; added when it is new. kNoRoom: it is new and the
    // allowance is used up.
    static constexpr uint32_t kNoRoom = UINT32_MAX;
    uint32_t child(std::vector<model::PathNode>& paths, const model::PathNode& node, Allowance& allowance);

  private:
    struct Key {
        uint64_t address;
        uint32_t parent;
        uint32_t flags;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        size_t operator()(const Key& key) const;
    };
    std::unordered_map<Key, uint32_t, KeyHash> index_;
};

// The nodes of one file and where each of them is in the trees of the processes.
class FileNodes {
  public:
    void add(const PathNode& node); // the first with an id counts

    // Index in `paths` of the file's node `id` for process number `process`; 0, the root, when the file defines no such
    // node, or one of another pid, or the allowance is used up. Stacks deeper than kMaxDepth lose their outermost
    // frames; so do nodes that are their own ancestor.
    uint32_t place(NodeId id, uint32_t process, uint32_t pid, std::vector<model::PathNode>& paths, PathTree& tree,
                   Allowance& allowance);

    static constexpr uint32_t kMaxDepth = 4096;

  private:
    struct Node {
        uint64_t address;
        NodeId parent;
        uint32_t pid;
        uint32_t flags;
        uint32_t process; // for which `index` holds
        uint32_t index;
        uint32_t depth; // 0: not placed
        uint32_t climb; // number of the climb that last passed here
    };
    struct Placed {
        uint32_t index, depth;
    };
    const Placed* find_placed(uint32_t slot, uint32_t process, Placed& storage) const;
    void set_placed(uint32_t slot, uint32_t process, Placed placed);

    IdIndex index_;
    std::vector<Node> nodes_;
    std::unordered_map<uint64_t, Placed, MixedHash> elsewhere_; // slot and process, where the node's own place is taken
    std::vector<uint32_t> path_; // scratch: slots from a node up to its first placed ancestor
    uint32_t climbs_ = 0;
};

} // namespace plumb::trace
