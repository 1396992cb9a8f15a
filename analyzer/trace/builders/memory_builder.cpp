#include "trace/builders/memory_builder.h"

#include "trace/context/access_kind.h"

#include <algorithm>

namespace plumb::trace {

uint32_t MemoryBuilder::area(uint32_t id) const {
    const auto known = areas_.find(id);
    return known == areas_.end() ? model::MemoryTraffic::kNone : known->second;
}

void MemoryBuilder::take(const MemoryArea& record, std::string path, Allowance& allowance) {
    if (!allowance.take(sizeof(model::MemoryArea)))
        return;
    areas_[record.id] = static_cast<uint32_t>(process_.memory.areas.size());
    process_.memory.areas.push_back({.start = record.start,
                                     .end = record.end,
                                     .heap = (record.flags & kAreaHeap) != 0,
                                     .stack = (record.flags & kAreaStack) != 0,
                                     .file = (record.flags & kAreaFile) != 0,
                                     .shared = (record.flags & kAreaShared) != 0,
                                     .writable = (record.flags & kAreaWritable) != 0,
                                     .path = std::move(path)});
}

void MemoryBuilder::take(const MemoryTraffic& record, uint32_t thread, uint32_t path, uint64_t first_ns,
                         uint64_t last_ns, Allowance& allowance) {
    if (!allowance.take(sizeof(model::MemoryTraffic)))
        return;
    process_.memory.traffic.push_back({.thread = thread,
                                       .area = area(record.area),
                                       .path = path,
                                       .instruction = record.instruction,
                                       .kind = access_kind(record.flags, record.width),
                                       .cpu_node = record.cpu_node,
                                       .page_node = record.page_node,
                                       .samples = record.samples,
                                       .time_ns = record.time_ns,
                                       .lowest_address = record.lowest_address,
                                       .highest_address = std::max(record.lowest_address, record.highest_address),
                                       .last_address = record.last_address,
                                       .first_ns = first_ns,
                                       .last_ns = last_ns});
}

void MemoryBuilder::take(const MemoryEpoch& record, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                         Allowance& allowance) {
    if (!allowance.take(sizeof(model::MemoryEpoch)))
        return;
    process_.memory.epochs.push_back({.thread = thread,
                                      .cpu_node = record.cpu_node,
                                      .page_node = record.page_node,
                                      .begin_ns = begin_ns,
                                      .end_ns = end_ns,
                                      .samples = record.samples,
                                      .time_ns = record.time_ns});
}

void MemoryBuilder::take(const FirstTouch& record, uint32_t thread, uint32_t path, uint64_t first_ns, uint64_t last_ns,
                         Allowance& allowance) {
    if (!allowance.take(sizeof(model::FirstTouch)))
        return;
    process_.memory.touches.push_back({.thread = thread,
                                       .area = area(record.area),
                                       .path = path,
                                       .instruction = record.instruction,
                                       .cpu_node = record.cpu_node,
                                       .page_node = record.page_node,
                                       .samples = record.samples,
                                       .faults = record.faults,
                                       .lowest_address = record.lowest_address,
                                       .highest_address = std::max(record.lowest_address, record.highest_address),
                                       .first_ns = first_ns,
                                       .last_ns = last_ns});
}

void MemoryBuilder::take(const PageScatter& record, std::string path, std::string why_not_timed, uint64_t first_ns,
                         uint64_t last_ns, Allowance& allowance) {
    if (!allowance.take(sizeof(model::PageScatter)))
        return;
    process_.page_scatters.push_back({.address = record.address,
                                      .kind = access_kind(record.flags, record.width),
                                      .chases = record.form == kScatterChase,
                                      .area = {.start = record.area_start,
                                               .end = record.area_end,
                                               .heap = (record.area_flags & kAreaHeap) != 0,
                                               .stack = (record.area_flags & kAreaStack) != 0,
                                               .file = (record.area_flags & kAreaFile) != 0,
                                               .shared = (record.area_flags & kAreaShared) != 0,
                                               .writable = (record.area_flags & kAreaWritable) != 0,
                                               .path = std::move(path)},
                                      .eligible = (record.page_flags & kPagesEligible) != 0,
                                      .advised = (record.page_flags & kPagesAdvised) != 0,
                                      .forbidden = (record.page_flags & kPagesForbidden) != 0,
                                      .refused = (record.page_flags & kPagesRefused) != 0,
                                      .samples = record.samples,
                                      .time_ns = record.time_ns,
                                      .small_ns = std::min(record.small_ns, record.time_ns),
                                      .places = record.places,
                                      .pages = record.pages,
                                      .lowest_address = record.lowest_address,
                                      .highest_address = std::max(record.lowest_address, record.highest_address),
                                      .last_address = record.last_address,
                                      .footprint_bytes = record.footprint_bytes,
                                      .resident_bytes = record.resident_bytes,
                                      .huge_bytes = std::min(record.huge_bytes, record.resident_bytes),
                                      .timed_bytes = record.timed_bytes,
                                      .small_page_ns = static_cast<double>(record.small_ps) * 1e-3,
                                      .huge_page_ns = static_cast<double>(record.huge_ps) * 1e-3,
                                      .small_touch_ns = static_cast<double>(record.small_touch_ns),
                                      .huge_touch_ns = static_cast<double>(record.huge_touch_ns),
                                      .why_not_timed = std::move(why_not_timed),
                                      .first_ns = first_ns,
                                      .last_ns = last_ns,
                                      .watched = record.watched,
                                      .new_pages = std::min(record.new_pages, record.watched)});
}

// `until_ns` 0: it lives, or (old traces) its end has a record of its own, which was not always written: then it ended at the
// latest when the next one began there.
void MemoryBuilder::take(const LargeMap& record, uint32_t path, uint64_t time_ns, uint64_t until_ns, Allowance& allowance) {
    const auto kind = static_cast<LargeMapKind>(record.kind);
    // The program break holds small blocks of whoever allocates next.
    if (kind == LargeMapKind::program_break || record.bytes == 0 || !allowance.take(sizeof(model::LargeBlock)))
        return;
    std::vector<model::LargeBlock>& blocks = process_.memory.blocks;
    if (until_ns != 0) {
        blocks.push_back({.start = record.address, .bytes = record.bytes, .from_ns = time_ns,
                          .until_ns = std::max(time_ns, until_ns), .path = path, .by_allocator = kind == LargeMapKind::allocator});
        return;
    }
    const auto [known, is_new] = living_blocks_.try_emplace(record.address, static_cast<uint32_t>(blocks.size()));
    if (!is_new) {
        blocks[known->second].until_ns = std::max(time_ns, blocks[known->second].from_ns);
        known->second = static_cast<uint32_t>(blocks.size());
    }
    blocks.push_back({.start = record.address, .bytes = record.bytes, .from_ns = time_ns, .path = path,
                      .by_allocator = kind == LargeMapKind::allocator});
}

void MemoryBuilder::take(const LargeUnmap& record, uint64_t time_ns) {
    const auto known = living_blocks_.find(record.address);
    if (known == living_blocks_.end())
        return;
    model::LargeBlock& block = process_.memory.blocks[known->second];
    block.until_ns = std::max(time_ns, block.from_ns);
    living_blocks_.erase(known);
}

void MemoryBuilder::finish() {
    model::Memory& memory = process_.memory;
    std::ranges::stable_sort(memory.epochs, {}, &model::MemoryEpoch::begin_ns);
    std::ranges::stable_sort(memory.touches, {}, &model::FirstTouch::first_ns);
    std::ranges::stable_sort(memory.blocks, {}, &model::LargeBlock::from_ns);
}

} // namespace plumb::trace
