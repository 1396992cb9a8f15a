#include "record/access/sampling/data_areas.h"

#include "platform/maps.h"

#include <algorithm>
#include <bit>

namespace plumb::record {

namespace {

constexpr size_t kMostAreas = 1024;       // written for one process
constexpr uint64_t kReadCostFactor = 100; // reading takes at most 1 % of the recorder's time

uint32_t flags_of(const platform::Mapping& mapping) {
    uint32_t flags = 0;
    flags |= mapping.path == "[heap]" ? uint32_t{trace::kAreaHeap} : 0;
    flags |= mapping.path == "[stack]" ? uint32_t{trace::kAreaStack} : 0;
    flags |= mapping.inode != 0 ? uint32_t{trace::kAreaFile} : 0;
    flags |= mapping.shared ? uint32_t{trace::kAreaShared} : 0;
    flags |= mapping.writable ? uint32_t{trace::kAreaWritable} : 0;
    return flags;
}

// Parts are a power of two of pages, so that they stay the same when the area grows a little.
unsigned part_shift_of(uint64_t bytes) {
    const uint64_t least = (bytes + DataAreas::kParts - 1) / DataAreas::kParts;
    return std::max(12u, static_cast<unsigned>(std::bit_width(std::max<uint64_t>(least, 1) - 1)));
}

} // namespace

void DataAreas::read(uint64_t now_ns) {
    const uint64_t begin = monotonic_ns();
    const std::vector<platform::Mapping> mappings = platform::read_mappings(proc_root_, pid_);
    std::map<uint64_t, Area> areas;
    for (const platform::Mapping& mapping : mappings) {
        Area area;
        area.end = mapping.end;
        area.flags = flags_of(mapping);
        area.path = mapping.path;
        const auto known = areas_.find(mapping.start);
        if (known != areas_.end() && known->second.path == area.path && known->second.flags == area.flags) {
            area.record = known->second.record;
            area.tried = known->second.tried;
            area.part_shift = known->second.part_shift;
            if (area.record && area.record->end < area.end)
                update(area.record->end, area.end);
        }
        area.part_shift = std::max(area.part_shift, part_shift_of(mapping.end - mapping.start));
        areas.emplace(mapping.start, std::move(area));
    }
    if (!areas.empty()) // it may have ended: what is known stays
        areas_ = std::move(areas);
    next_read_ns_ = now_ns + (monotonic_ns() - begin) * kReadCostFactor;
}

void DataAreas::write(uint64_t start, Area& area, uint64_t now_ns) {
    area.tried = true;
    if (written_ >= kMostAreas)
        return;
    trace::MemoryArea record{};
    record.id = next_id_ + 1;
    record.pid = pid_;
    record.start = start;
    record.end = area.end;
    record.first_ns = now_ns;
    record.flags = area.flags;
    record.path = file_.string(area.path);
    area.record = file_.append(trace::RecordType::MemoryArea, 0, record);
    if (!area.record)
        return;
    ++next_id_;
    ++written_;
    bytes_ += sizeof record;
}

DataAreas::Place DataAreas::find(uint64_t address, uint64_t now_ns) {
    for (int round = 0;; ++round) {
        const auto after = areas_.upper_bound(address);
        if (after != areas_.begin() && address < std::prev(after)->second.end) {
            const uint64_t start = std::prev(after)->first;
            Area& area = std::prev(after)->second;
            if (!area.tried)
                write(start, area, now_ns);
            return {area.record, area.record ? area.record->id : 0, address >> area.part_shift};
        }
        if (round > 0 || now_ns < next_read_ns_)
            return {nullptr, 0, address >> 21};
        read(now_ns);
    }
}

} // namespace plumb::record
