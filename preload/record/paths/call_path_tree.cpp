// What must hold:
//  - A slot's id goes 0 -> kBusy -> its final value; address and parent are written in between and never again.
//  - Who meets a busy slot goes on to the next: nobody waits for a thread that may have been stopped.
//  - A node stands in the region of its parent's number. Numbers are handed out
//    one after the other, so that the table fills from its beginning (a small program touches few of its pages) and
//    a path's nodes lie close together. Children that find no room there, those of nodes with very many, stand
//    anywhere.
//  - All of it lies in pages that a forked child finds wiped: its ids belong to its own file.
#include "record/paths/call_path_tree.h"

#include "platform/os/memory.h"

namespace plumb::shim {
namespace {

constexpr uint32_t kMaxNodes = 1u << 20;
constexpr uint32_t kSlots = 1u << 21;
constexpr uint32_t kRegion = 512;     // slots of neighbouring parents, two for each
constexpr uint32_t kProbesNearby = 16;
constexpr uint32_t kProbesAnywhere = 64;
constexpr uint32_t kBusy = UINT32_MAX;
constexpr uint32_t kRefusedRoot = UINT32_MAX - 1; // stands for the id 0

struct Slot {
    uint64_t address;
    uint32_t parent;
    uint32_t id; // of the node; of its parent where there was no room
};

struct Tree {
    uint32_t last_id;
    uint32_t refused;
    Slot slots[kSlots];
};

Tree* tree;

Tree* open_tree() {
    Tree* current = __atomic_load_n(&tree, __ATOMIC_ACQUIRE);
    if (__builtin_expect(current != nullptr, 1))
        return current;
    Tree* made = static_cast<Tree*>(allocate_pages(sizeof(Tree), true));
    if (!made)
        return nullptr;
    keep_small_pages(made, sizeof(Tree));
    if (__atomic_compare_exchange_n(&tree, &current, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return made;
    release_pages(made, sizeof(Tree));
    return current;
}

// 0: no room.
uint32_t write_node(const Guard& guard, Tree* t, uint32_t parent, uint64_t address) {
    if (__atomic_load_n(&t->last_id, __ATOMIC_RELAXED) >= kMaxNodes)
        return 0;
    trace::PathNode record{};
    record.id = __atomic_add_fetch(&t->last_id, 1, __ATOMIC_RELAXED);
    record.parent = parent == kCutPath ? 0 : parent;
    record.address = address;
    record.flags = parent == kCutPath ? uint32_t{trace::kPathTruncated} : 0;
    return append(guard, trace::RecordType::PathNode, record) ? record.id : 0;
}

// Looks through `probes` slots from `at` on. False: the node is not there, and there is no room for it.
bool find_or_add(const Guard& guard, Tree* t, uint32_t parent, uint64_t address, uint32_t at, uint32_t probes,
                 trace::NodeId* node) {
    const uint32_t refused = parent == kCutPath ? 0 : parent;
    for (; probes > 0; --probes, ++at) {
        Slot& slot = t->slots[at & (kSlots - 1)];
        uint32_t id = __atomic_load_n(&slot.id, __ATOMIC_ACQUIRE);
        if (id == 0 && __atomic_compare_exchange_n(&slot.id, &id, kBusy, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            slot.address = address;
            slot.parent = parent;
            if ((id = write_node(guard, t, parent, address)) == 0) {
                __atomic_add_fetch(&t->refused, 1, __ATOMIC_RELAXED);
                id = refused ? refused : kRefusedRoot;
            }
            __atomic_store_n(&slot.id, id, __ATOMIC_RELEASE);
        } else if (id == kBusy || slot.address != address || slot.parent != parent) {
            continue;
        }
        *node = id == kRefusedRoot ? 0 : id;
        return true;
    }
    return false;
}

} // namespace

trace::NodeId call_path_child(const Guard& guard, trace::NodeId parent, uint64_t address) {
    const uint32_t refused = parent == kCutPath ? 0 : parent;
    Tree* const t = open_tree();
    if (!t)
        return refused;
    const uint64_t mixed = (address ^ (uint64_t{parent} << 40 | parent)) * 0x9e3779b97f4a7c15u;
    const uint64_t hash = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
    const uint32_t nearby = ((parent * 2) & ~(kRegion - 1)) + static_cast<uint32_t>(hash >> 32 & (kRegion - 1));
    trace::NodeId id = 0;
    if (find_or_add(guard, t, parent, address, nearby, kProbesNearby, &id) ||
        find_or_add(guard, t, parent, address, static_cast<uint32_t>(hash >> 43), kProbesAnywhere, &id))
        return id;
    __atomic_add_fetch(&t->refused, 1, __ATOMIC_RELAXED);
    return refused;
}

uint64_t call_path_nodes_refused() {
    const Tree* t = __atomic_load_n(&tree, __ATOMIC_ACQUIRE);
    return t ? __atomic_load_n(&t->refused, __ATOMIC_RELAXED) : 0;
}

} // namespace plumb::shim
