// What must hold:
//  - A slot's id goes 0 -> kBusy -> its final value; address and parent are written in between and never again.
//  - Who meets a busy slot goes on to the next: nobody waits for a thread that may have been stopped.
//  - All of it lies in pages that a forked child finds wiped: its ids belong to its own file.
#include "record/call_path_tree.h"

#include "platform/memory.h"

namespace plumb::shim {
namespace {

constexpr uint32_t kMaxNodes = 1u << 20;
constexpr uint32_t kSlots = 1u << 21;
constexpr uint32_t kProbes = 64;
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

} // namespace

trace::NodeId call_path_child(const Guard& guard, trace::NodeId parent, uint64_t address) {
    const uint32_t refused = parent == kCutPath ? 0 : parent;
    Tree* const t = open_tree();
    if (!t)
        return refused;
    const uint64_t mixed = (address ^ (uint64_t{parent} << 40 | parent)) * 0x9e3779b97f4a7c15u;
    uint32_t at = static_cast<uint32_t>((mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u >> 43);
    for (uint32_t probe = 0; probe < kProbes; ++probe, at = (at + 1) & (kSlots - 1)) {
        Slot& slot = t->slots[at];
        uint32_t id = __atomic_load_n(&slot.id, __ATOMIC_ACQUIRE);
        if (id == 0 && __atomic_compare_exchange_n(&slot.id, &id, kBusy, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
            slot.address = address;
            slot.parent = parent;
            if ((id = write_node(guard, t, parent, address)) == 0) {
                __atomic_add_fetch(&t->refused, 1, __ATOMIC_RELAXED);
                id = refused ? refused : kRefusedRoot;
            }
            __atomic_store_n(&slot.id, id, __ATOMIC_RELEASE);
            return id == kRefusedRoot ? 0 : id;
        }
        if (id != kBusy && slot.address == address && slot.parent == parent)
            return id == kRefusedRoot ? 0 : id;
    }
    __atomic_add_fetch(&t->refused, 1, __ATOMIC_RELAXED);
    return refused;
}

uint64_t call_path_nodes_refused() {
    const Tree* t = __atomic_load_n(&tree, __ATOMIC_ACQUIRE);
    return t ? __atomic_load_n(&t->refused, __ATOMIC_RELAXED) : 0;
}

} // namespace plumb::shim
