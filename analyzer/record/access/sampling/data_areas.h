// The mappings of one process that sampled accesses fall into, as /proc/PID/maps shows them; each is written to the file
// once, when the first access to it is met. An area is divided into parts, so that what lies where can be determined within it.
#pragma once

#include "record/run/node_trace_writer.h"

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

namespace plumb::record {

class DataAreas {
  public:
    static constexpr uint64_t kParts = 64;

    struct Place {
        trace::MemoryArea* area = nullptr; // null: no mapping is known there
        uint32_t id = 0;                   // of the area, 0: not known, or no room for it
        uint64_t part = 0;                 // number that is the same for all addresses of the part
    };

    // Areas get ids from `next_id` on.
    DataAreas(NodeTraceWriter& file, std::string proc_root, uint32_t pid, uint32_t& next_id)
        : file_(file), proc_root_(std::move(proc_root)), pid_(pid), next_id_(next_id) {}

    // /proc/PID/maps is read when an address lies in no known mapping, and then no more for a hundred times as long as
    // the reading took: accesses in between have no area.
    Place find(uint64_t address, uint64_t now_ns);

    uint64_t bytes() const { return bytes_; } // of the file

  private:
    struct Area {
        uint64_t end = 0;
        uint32_t flags = 0;
        std::string path;
        unsigned part_shift = 12;
        trace::MemoryArea* record = nullptr;
        bool tried = false;
    };
    void read(uint64_t now_ns);
    void write(uint64_t start, Area& area, uint64_t now_ns);

    NodeTraceWriter& file_;
    std::string proc_root_;
    uint32_t pid_;
    uint32_t& next_id_;
    std::map<uint64_t, Area> areas_; // by start
    uint64_t next_read_ns_ = 0;
    uint64_t bytes_ = 0;
    size_t written_ = 0;
};

} // namespace plumb::record
