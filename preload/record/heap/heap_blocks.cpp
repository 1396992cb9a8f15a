#include "record/heap/heap_blocks.h"

#include "record/heap/heap_shadow.h"
#include "record/heap/large_block_index.h"
#include "record/heap/mapping_list.h"
#include "record/heap/sampled_blocks.h"

namespace plumb::shim {
namespace {

// Of a heap block that was recorded. Larger ones stand among the spans.
bool find_small(uint64_t address, BlockInfo* block) {
    ShadowEntry shadow{};
    if (shadow_find(address, kIndexedBlockBytes, &block->start, &shadow)) {
        block->bytes = shadow.bytes;
        block->path = shadow.path;
        return true;
    }
    SampledBlock live{};
    if (find_sampled_block(address, kIndexedBlockBytes, &block->start, &live)) {
        block->bytes = live.bytes;
        block->path = live.path;
        return true;
    }
    return false;
}

} // namespace

bool block_of(uint64_t address, BlockInfo* block) {
    *block = {};
    if (const ThreadState* thread = this_thread; thread && thread->stack.contains(address)) {
        *block = {thread->stack.low, thread->stack.high - thread->stack.low, 0, trace::BlockKind::stack};
        return true;
    }
    if (find_small(address, block) || find_indexed_block(address, &block->start, &block->bytes, &block->path)) {
        block->kind = trace::BlockKind::heap;
        return true;
    }
    if (mapping_find(address, &block->start, &block->bytes, &block->path)) {
        block->kind = trace::BlockKind::mapping;
        return true;
    }
    return false;
}

void learn_stack(const Guard& guard) {
    if (guard.thread().stack.high == 0)
        guard.thread().stack = find_stack_bounds();
}

} // namespace plumb::shim
