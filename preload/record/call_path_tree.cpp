// What must hold:
//  - A node is filled before its id is published in a slot, and never changes afterwards except for `target`.
//  - A slot goes from 0 to an id once. Two threads that make the same node race for the slot; the loser's id is
//    never used.
//  - All of it lies in pages that a forked child finds wiped: its ids belong to its own file.
#include "record/call_path_tree.h"

#include "platform/memory.h"

namespace plumb::shim {
namespace {

constexpr uint32_t kMaxNodes = 1u << 20;
constexpr uint32_t kSlots = 1u << 21;
constexpr uint32_t kProbes = 64;
constexpr uint32_t kMaxFoldDistance = 256;

struct Node {
    uint64_t address;
    uint32_t parent;
    uint32_t target; // the node to continue from: itself, an ancestor (recursion), or its parent (no room)
};

struct Tree {
    uint32_t last_id;
    uint32_t refused;
    Node nodes[kMaxNodes];
    uint32_t slots[kSlots];
};

Tree* tree;

Tree* open_tree() {
    Tree* current = __atomic_load_n(&tree, __ATOMIC_ACQUIRE);
    if (current)
        return current;
    Tree* made = static_cast<Tree*>(allocate_pages(sizeof(Tree), true));
    if (!made)
        return nullptr;
    if (__atomic_compare_exchange_n(&tree, &current, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    release_pages(made, sizeof(Tree));
    return current;
}

uint32_t find_in_ancestors(const Tree& t, uint32_t node, uint64_t address) {
    for (uint32_t distance = 0; node != 0 && node != kCutPath && distance < kMaxFoldDistance; ++distance) {
        if (t.nodes[node].address == address)
            return node;
        node = t.nodes[node].parent;
    }
    return 0;
}

bool write_node(const Guard& guard, uint32_t id, uint32_t parent, uint64_t address) {
    trace::PathNode record{};
    record.id = id;
    record.parent = parent == kCutPath ? 0 : parent;
    record.address = address;
    record.flags = parent == kCutPath ? uint32_t{trace::kPathTruncated} : 0;
    return append(guard, trace::RecordType::PathNode, record) != nullptr;
}

} // namespace

trace::NodeId call_path_child(const Guard& guard, trace::NodeId parent, uint64_t address) {
    const uint32_t refused = parent == kCutPath ? 0 : parent;
    Tree* const t = open_tree();
    if (!t)
        return refused;
    const uint64_t mixed = (address ^ (uint64_t{parent} << 40 | parent)) * 0x9e3779b97f4a7c15u;
    uint32_t slot = static_cast<uint32_t>((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u >> 43);
    uint32_t made = 0;
    for (uint32_t probe = 0; probe < kProbes; ++probe, slot = (slot + 1) & (kSlots - 1)) {
        uint32_t id = __atomic_load_n(&t->slots[slot], __ATOMIC_ACQUIRE);
        if (id == 0) {
            if (!made) {
                if (__atomic_load_n(&t->last_id, __ATOMIC_RELAXED) >= kMaxNodes - 1024)
                    break; // 1024: more threads than that are not between here and the next line
                made = __atomic_add_fetch(&t->last_id, 1, __ATOMIC_RELAXED);
                const uint32_t ancestor = find_in_ancestors(*t, parent, address);
                t->nodes[made] = {address, parent, ancestor ? ancestor : made};
            }
            if (__atomic_compare_exchange_n(&t->slots[slot], &id, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
                Node& node = t->nodes[made];
                if (node.target == made && !write_node(guard, made, parent, address)) {
                    __atomic_add_fetch(&t->refused, 1, __ATOMIC_RELAXED);
                    __atomic_store_n(&node.target, refused, __ATOMIC_RELAXED);
                }
                return node.target;
            }
        }
        const Node& node = t->nodes[id];
        if (node.address == address && node.parent == parent)
            return __atomic_load_n(&node.target, __ATOMIC_RELAXED);
    }
    __atomic_add_fetch(&t->refused, 1, __ATOMIC_RELAXED);
    return refused;
}

uint64_t call_path_nodes_refused() {
    const Tree* t = __atomic_load_n(&tree, __ATOMIC_ACQUIRE);
    return t ? __atomic_load_n(&t->refused, __ATOMIC_RELAXED) : 0;
}

} // namespace plumb::shim
