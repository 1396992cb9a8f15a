#include "trace/context/path_merger.h"

#include "trace/file/mixed_hash.h"

namespace plumb::trace {

size_t PathTree::KeyHash::operator()(const Key& key) const {
    const MixedHash mixed;
    return mixed(key.address ^ mixed(static_cast<uint64_t>(key.parent) << 2 | key.flags));
}

uint32_t PathTree::child(std::vector<model::PathNode>& paths, const model::PathNode& node, Allowance& allowance) {
    const uint32_t flags = uint32_t{node.leaf} | uint32_t{node.kernel} << 1;
    const Key key{node.address, node.parent, flags};
    const auto found = index_.find(key);
    if (found != index_.end()) {
        paths[found->second].truncated |= node.truncated;
        return found->second;
    }
    if (!allowance.take(2 * sizeof node))
        return kNoRoom;
    const auto index = static_cast<uint32_t>(paths.size());
    paths.push_back(node);
    index_.emplace(key, index);
    return index;
}

void FileNodes::add(const PathNode& node) {
    if (index_.add(node.id, static_cast<uint32_t>(nodes_.size())))
        nodes_.push_back({node.address, node.parent, node.pid, node.flags, 0, 0, 0, 0});
}

const FileNodes::Placed* FileNodes::find_placed(uint32_t slot, uint32_t process, Placed& storage) const {
    const Node& node = nodes_[slot];
    if (node.depth != 0 && node.process == process) {
        storage = {node.index, node.depth};
        return &storage;
    }
    if (elsewhere_.empty())
        return nullptr;
    const auto found = elsewhere_.find(static_cast<uint64_t>(slot) << 32 | process);
    return found == elsewhere_.end() ? nullptr : &found->second;
}

void FileNodes::set_placed(uint32_t slot, uint32_t process, Placed placed) {
    Node& node = nodes_[slot];
    if (node.depth == 0) {
        node.process = process;
        node.index = placed.index;
        node.depth = placed.depth;
    } else {
        elsewhere_.insert_or_assign(static_cast<uint64_t>(slot) << 32 | process, placed);
    }
}

uint32_t FileNodes::place(NodeId id, uint32_t process, uint32_t pid, std::vector<model::PathNode>& paths,
                          PathTree& tree, Allowance& allowance) {
    // Climb to the first ancestor that already has a place in this process, then come down.
    path_.clear();
    ++climbs_;
    Placed storage{};
    Placed above{0, 0};
    bool truncated = false;
    for (NodeId next = id; next != 0;) {
        const uint32_t slot = index_.find(next);
        if (slot == IdIndex::kNone || (nodes_[slot].pid != 0 && nodes_[slot].pid != pid)) {
            truncated = true;
            break;
        }
        if (const Placed* placed = find_placed(slot, process, storage)) {
            above = *placed;
            break;
        }
        if (allowance.exhausted())
            return 0;
        if (nodes_[slot].climb == climbs_) { // its own ancestor
            truncated = true;
            break;
        }
        nodes_[slot].climb = climbs_;
        path_.push_back(slot);
        next = nodes_[slot].parent;
    }
    for (size_t i = path_.size(); i-- > 0;) {
        const uint32_t slot = path_[i];
        if (above.depth >= kMaxDepth) {
            above = {0, 0};
            truncated = true;
        }
        const Node& node = nodes_[slot];
        const model::PathNode wanted{.parent = above.index,
                                     .address = node.address,
                                     .leaf = (node.flags & kPathLeaf) != 0,
                                     .kernel = (node.flags & kPathKernel) != 0,
                                     .truncated = truncated || (node.flags & kPathTruncated) != 0};
        const uint32_t index = tree.child(paths, wanted, allowance);
        if (index == PathTree::kNoRoom)
            return 0;
        above = {index, above.depth + 1};
        set_placed(slot, process, above);
        truncated = false;
    }
    return above.index;
}

} // namespace plumb::trace
