// The large mappings that the program made itself and has not unmapped: a short list, looked through from end to end
// (a mapping costs a system call and its page faults; a few hundred compared words do not show beside it).
// Lock-free, signal-safe; what finds no room is not found.
#pragma once

#include <plumb/trace_format.h>
#include <stdint.h>

namespace plumb::shim {

// Replaces what stood in this range.
void mapping_insert(uint64_t start, uint64_t bytes, trace::NodeId path);

// What a removal took out, for the case that the kernel then refuses to unmap it. Beyond kMost parts stay removed.
struct RemovedMappings {
    static constexpr uint32_t kMost = 8;
    struct Part {
        uint64_t start, end;
        trace::NodeId path;
    };
    uint32_t count = 0;
    Part parts[kMost];
};

// Forgets this range, which may be a part of a mapping, or of several. Cheap while there are none.
void mapping_remove(uint64_t start, uint64_t bytes, RemovedMappings* removed = nullptr);
void mapping_restore(const RemovedMappings&);

// False: no such mapping, or one that another thread works on at this moment.
bool mapping_find(uint64_t address, uint64_t* start, uint64_t* bytes, trace::NodeId* path);

} // namespace plumb::shim
