// The shim's tables without locks under ThreadSanitizer: several threads fill, empty and search them at the same time. Blocks
// are handed from one thread to another, as programs do; whoever frees a block knows that it was allocated. Built with
// -fsanitize=thread, which reports every access to the same memory that nothing orders; here the results are checked, too.
#include "platform/os/memory.h"
#include "races.h"
#include "record/heap/heap_shadow.h"
#include "record/heap/large_block_index.h"
#include "record/heap/large_blocks.h"
#include "record/heap/mapping_list.h"
#include "record/heap/sampled_blocks.h"
#include "record/mpi/tables/table_lock.h"
#include "record/paths/call_path_tree.h"
#include "record/pin/pin_table.h"
#include "record/process/thread_state.h"
#include "record/process/trace_writer.h"

#include <array>
#include <atomic>
#include <memory>

namespace {

using namespace plumb;
using namespace plumb::shim;
using races::in_threads, races::require;

constexpr uint32_t kRounds = 4000, kBlocks = 64;
constexpr uint64_t kBlockBytes = 1 << 20, kArena = uint64_t{1} << 40;

uint64_t address_of(uint32_t block) { return kArena + block * kBlockBytes * 4; }

// Whose block it is now: 0 nobody's, 1 allocated and given away.
std::array<std::atomic<uint32_t>, kBlocks> block_state;

void allocate(const Guard& guard, uint32_t block) {
    const uint64_t address = address_of(block);
    require(insert_sampled_block(address, {7, block + 1, kBlockBytes}), "there is room for a sampled block");
    index_large_block(address, kBlockBytes, 7);
    require(shadow_store(address, 7, kBlockBytes), "there is room in the shadow");
    mapping_insert(address + 2 * kBlockBytes, kBlockBytes, 7);
    large_block_begins(guard, address, kBlockBytes, trace::LargeMapKind::allocator, 7);
}

void release(uint32_t block) {
    const uint64_t address = address_of(block);
    SampledBlock live{};
    require(take_sampled_block(address, &live) && live.weight == block + 1 && live.bytes == kBlockBytes,
            "a sampled block is found whole");
    unindex_large_block(address, kBlockBytes);
    const ShadowEntry entry = shadow_take(address);
    require(entry.known && entry.bytes == kBlockBytes, "a block is found whole in the shadow");
    mapping_remove(address + 2 * kBlockBytes, kBlockBytes);
    large_block_ends(address);
}

void search(uint32_t block) {
    const uint64_t address = address_of(block) + 100;
    uint64_t start = 0, bytes = 0;
    trace::NodeId path = 0;
    SampledBlock live{};
    ShadowEntry entry{};
    if (find_sampled_block(address, 4096, &start, &live))
        require(start == address_of(block) && live.weight == block + 1, "a sampled block that is found is whole");
    if (find_indexed_block(address, &start, &bytes, &path))
        require(start == address_of(block) && bytes == kBlockBytes && path == 7, "a large block that is found is whole");
    if (mapping_find(address + 2 * kBlockBytes, &start, &bytes, &path))
        require(bytes == kBlockBytes && path == 7, "a mapping that is found is whole");
    shadow_find(address, 4096, &start, &entry);
}

void use_heap_tables(uint32_t thread) {
    const Guard guard;
    uint32_t random = thread * 7919 + 1;
    for (uint32_t i = 0; i < kRounds; ++i) {
        random = random * 1664525 + 1013904223;
        const uint32_t block = random >> 16 & (kBlocks - 1);
        uint32_t nobodys = 0, given_away = 1;
        if (block_state[block].compare_exchange_strong(nobodys, 2, std::memory_order_acquire)) {
            allocate(guard, block);
            block_state[block].store(1, std::memory_order_release);
        } else if (i % 2 && block_state[block].compare_exchange_strong(given_away, 2, std::memory_order_acquire)) {
            release(block);
            block_state[block].store(0, std::memory_order_release);
        } else {
            search(block);
        }
    }
}

constexpr uint32_t kChildren = 128; // few enough for a parent to keep them together
std::array<std::atomic<trace::NodeId>, kChildren> nodes_seen;

void use_call_paths() {
    const Guard guard;
    for (uint32_t i = 0; i < kRounds; ++i) {
        const trace::NodeId parent = i % 3 == 0 ? 0 : call_path_child(guard, 0, 0x1000);
        const trace::NodeId node = call_path_child(guard, parent, 0x2000 + i % kChildren);
        require(node != 0, "there is room for a node");
        nodes_seen[i % kChildren].store(node, std::memory_order_relaxed);
    }
}

void use_thread_states() {
    for (uint32_t i = 0; i < kRounds; ++i) {
        ThreadState* const state = allocate_thread_state();
        require(state != nullptr, "there is a state");
        uint32_t dead = 0;
        require(state->live.compare_exchange_strong(dead, 1), "a state is one thread's");
        state->tid = i;
        state->chunks = i;
        uint32_t living = 0;
        for (uint32_t at = 0; at < thread_state_count(); ++at)
            if (const ThreadState* other = thread_state_at(at))
                living += other->live.load(std::memory_order_relaxed);
        require(living >= 1, "the state is among all");
        release_thread_state(state);
    }
}

void use_positions(pin::Group& group, uint32_t thread) {
    const PinTable table(group, 8, [](uint64_t) { return true; });
    for (uint32_t i = 0; i < kRounds / 4; ++i) {
        const uint64_t owner = pin::owner(1000 + thread, 1 + i);
        const uint32_t entry = table.take(owner);
        require(entry != kNoEntry, "there is a position");
        table.release(entry, owner);
    }
}

mpi::TableLock lock_of_tables;
uint64_t guarded_by_lock;
std::atomic<uint64_t> entered;

void use_table_lock() {
    const Guard guard;
    for (uint32_t i = 0; i < kRounds; ++i)
        if (const mpi::Locked locked(lock_of_tables); locked) {
            ++guarded_by_lock;
            entered.fetch_add(1, std::memory_order_relaxed);
        }
}

} // namespace

int main() {
    start_large_blocks();
    in_threads("heap tables", use_heap_tables);
    in_threads("call paths", [](uint32_t) { use_call_paths(); });
    in_threads("thread states", [](uint32_t) { use_thread_states(); });
    const auto group = std::make_unique<pin::Group>();
    in_threads("pin table", [&](uint32_t thread) { use_positions(*group, thread); });
    lock_of_tables.take(); // owned by this thread first; the others share it
    lock_of_tables.release();
    in_threads("table lock", [](uint32_t) { use_table_lock(); });
    require(guarded_by_lock == entered, "one thread at a time holds the tables");
}
