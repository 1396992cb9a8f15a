#include "platform/code/near_code.h"

#include "platform/os/maps_file.h"
#include "platform/os/memory.h"
#include "platform/os/system_call.h"

#include <atomic>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

namespace plumb::shim {
namespace {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kCell = 16; // pieces are handed out in these
constexpr uint64_t kWideBytes = 64 * 1024;
constexpr uint64_t kLowest = 64 * 1024;        // below, a null pointer with an offset must still fault
constexpr uint64_t kHighest = 0x7ffffffff000;  // of user space with four levels of page tables
constexpr uint64_t kBreakRoom = 1ull << 30;
constexpr uint64_t kStackRoom = 256ull << 20;
constexpr uint32_t kMostRegions = 1024;

struct Region {
    uint64_t start;
    uint64_t bytes;
    uint16_t owners[kWideBytes / kCell];
};
Region* regions; // kMostRegions of them, from the first one on; pages of it are touched as they are used
std::atomic<uint32_t> region_count{0};

uint64_t round_down(uint64_t value, uint64_t unit) { return value / unit * unit; }
uint64_t round_up(uint64_t value, uint64_t unit) { return round_down(value + unit - 1, unit); }

// A run of free cells whose first byte lies in `range`; 0: none.
uint64_t take_from(Region& region, AddressRange range, uint64_t cells, uint16_t owner) {
    const uint64_t end = region.start + region.bytes;
    uint64_t at = range.low > region.start ? round_up(range.low, kCell) : region.start;
    while (at < range.high && at + cells * kCell <= end) {
        const uint64_t first = (at - region.start) / kCell;
        uint64_t run = 0;
        while (run < cells && !region.owners[first + run])
            ++run;
        if (run == cells) {
            for (uint64_t i = 0; i < cells; ++i)
                region.owners[first + i] = owner;
            return at;
        }
        at += (run + 1) * kCell;
    }
    return 0;
}

// Where in the gaps between mappings a new region may lie.
struct Search {
    AddressRange range;    // of the piece's first byte; `low` is a multiple of kCell
    uint64_t piece_bytes;
    uint64_t least_bytes;  // of the region
    uint64_t break_end;
    uint64_t previous_end; // of the mapping before
    uint64_t best;         // 0: none yet
    uint64_t bytes;        // of the best region
};

void consider_gap(Search& search, uint64_t low, uint64_t high) {
    if (low < kLowest)
        low = kLowest;
    if (high > kHighest)
        high = kHighest;
    const uint64_t forbidden_end = search.break_end + kBreakRoom;
    if (low >= search.break_end && low < forbidden_end)
        low = forbidden_end;
    else if (low < search.break_end && high > search.break_end)
        high = search.break_end;
    low = round_up(low, kPage);
    if (low < round_down(search.range.low, kPage))
        low = round_down(search.range.low, kPage);
    const uint64_t piece = low > search.range.low ? low : search.range.low; // may lie at the end of the first page
    const uint64_t needed = round_up(piece + search.piece_bytes, kPage) - low;
    const uint64_t bytes = needed > search.least_bytes ? needed : search.least_bytes;
    if (piece < search.range.high && low + bytes <= high && !search.best) {
        search.best = low;
        search.bytes = bytes;
    }
}

bool consider_mapping(const Mapping& mapping, void* data) {
    auto& search = *static_cast<Search*>(data);
    uint64_t high = mapping.start;
    constexpr char kStack[] = "[stack]";
    if (mapping.path_length == sizeof kStack - 1 && memcmp(mapping.path, kStack, sizeof kStack - 1) == 0)
        high = high > kStackRoom ? high - kStackRoom : 0;
    if (high > search.previous_end)
        consider_gap(search, search.previous_end, high);
    search.previous_end = mapping.end;
    return !search.best && search.previous_end < search.range.high;
}

// With room for a piece of `piece_bytes` that begins within `range`.
Region* add_region(AddressRange range, uint64_t piece_bytes) {
    const uint32_t index = region_count.load(std::memory_order_relaxed);
    if (index == kMostRegions)
        return nullptr;
    if (!regions) {
        regions = static_cast<Region*>(allocate_pages(kMostRegions * sizeof(Region), false));
        if (!regions)
            return nullptr;
        keep_small_pages(regions, kMostRegions * sizeof(Region));
    }
    static char buffer[8192]; // under the callers' lock
    Search search{};
    search.range = {round_up(range.low, kCell), range.high};
    search.piece_bytes = piece_bytes;
    search.least_bytes = range.high - range.low >= 16 * kWideBytes ? kWideBytes : kPage;
    search.break_end = static_cast<uint64_t>(system_call(SYS_brk, 0));
    for_each_mapping("/proc/self/maps", buffer, sizeof buffer, consider_mapping, &search);
    if (!search.best)
        return nullptr;
    const uint64_t bytes = search.bytes;
    const long got = system_call(SYS_mmap, static_cast<long>(search.best), static_cast<long>(bytes),
                                 PROT_READ | PROT_WRITE | PROT_EXEC,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (is_error(got))
        return nullptr;
    if (static_cast<uint64_t>(got) != search.best) { // a kernel before 4.17, that takes the address as a hint
        system_call(SYS_munmap, got, static_cast<long>(bytes));
        return nullptr;
    }
    memset(reinterpret_cast<void*>(got), 0xcc, bytes);
    Region& region = regions[index];
    region.start = search.best;
    region.bytes = bytes;
    region_count.store(index + 1, std::memory_order_release);
    return &region;
}

} // namespace

uint64_t allocate_near_code(AddressRange range, size_t bytes, uint16_t owner) {
    const uint64_t cells = (bytes + kCell - 1) / kCell;
    const uint32_t count = region_count.load(std::memory_order_relaxed);
    for (uint32_t i = 0; i < count; ++i)
        if (regions[i].start < range.high && regions[i].start + regions[i].bytes > range.low)
            if (const uint64_t at = take_from(regions[i], range, cells, owner))
                return at;
    if (Region* region = add_region(range, cells * kCell))
        return take_from(*region, range, cells, owner);
    return 0;
}

uint16_t owner_of_near_code(uint64_t address) {
    const uint32_t count = region_count.load(std::memory_order_acquire);
    for (uint32_t i = 0; i < count; ++i)
        if (address - regions[i].start < regions[i].bytes)
            return regions[i].owners[(address - regions[i].start) / kCell];
    return 0;
}

} // namespace plumb::shim
