// Each entry has a version: odd while a thread writes it. Nobody waits: who meets an odd one passes on, so that two
// threads which unmap parts of one mapping at the same moment may leave one part in the list. The list is wiped in
// forked children, whose paths are other ones.
#include "record/heap/mapping_list.h"

#include "platform/os/lazy_pages.h"

namespace plumb::shim {
namespace {

constexpr uint32_t kEntries = 1024;

struct Mapping {
    uint32_t version;
    trace::NodeId path;
    uint64_t start, end; // end 0: free
};
struct List {
    uint32_t used; // entries below were used at least once
    Mapping entries[kEntries];
};
List* list;

// Only if the entry is still what it was at `version`: a thread that holds an entry which has meanwhile become another
// thread's would hide it from its owner.
bool begin_change(Mapping& entry, uint32_t version) {
    return !(version & 1) &&
           __atomic_compare_exchange_n(&entry.version, &version, version + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void end_change(Mapping& entry) {
    __atomic_store_n(&entry.version, __atomic_load_n(&entry.version, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

// False: another thread writes it.
bool read(const Mapping& entry, Mapping* copy) {
    const uint32_t version = __atomic_load_n(&entry.version, __ATOMIC_ACQUIRE);
    copy->version = version;
    copy->path = __atomic_load_n(&entry.path, __ATOMIC_RELAXED);
    copy->start = __atomic_load_n(&entry.start, __ATOMIC_RELAXED);
    copy->end = __atomic_load_n(&entry.end, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return !(version & 1) && __atomic_load_n(&entry.version, __ATOMIC_RELAXED) == version;
}

void write(Mapping& entry, uint64_t start, uint64_t end, trace::NodeId path) {
    __atomic_store_n(&entry.start, start, __ATOMIC_RELAXED);
    __atomic_store_n(&entry.end, end, __ATOMIC_RELAXED);
    __atomic_store_n(&entry.path, path, __ATOMIC_RELAXED);
}

uint32_t used_entries(const List* l) {
    const uint32_t used = __atomic_load_n(&l->used, __ATOMIC_ACQUIRE);
    return used < kEntries ? used : kEntries;
}

void add(List* l, uint64_t start, uint64_t end, trace::NodeId path) {
    const uint32_t used = used_entries(l);
    for (uint32_t i = 0; i < kEntries; ++i) {
        Mapping& entry = l->entries[i];
        Mapping seen_there{};
        if (!read(entry, &seen_there) || seen_there.end != 0 || !begin_change(entry, seen_there.version))
            continue;
        write(entry, start, end, path);
        end_change(entry);
        uint32_t seen = used;
        while (seen <= i && !__atomic_compare_exchange_n(&l->used, &seen, i + 1, false, __ATOMIC_ACQ_REL,
                                                         __ATOMIC_RELAXED)) {
        }
        return;
    }
}

} // namespace

void mapping_insert(uint64_t start, uint64_t bytes, trace::NodeId path) {
    mapping_remove(start, bytes);
    if (List* const l = open_pages(&list, false); l && bytes != 0)
        add(l, start, start + bytes, path);
}

void mapping_remove(uint64_t start, uint64_t bytes, RemovedMappings* removed) {
    List* const l = __atomic_load_n(&list, __ATOMIC_ACQUIRE);
    const uint64_t end = start + bytes;
    for (uint32_t i = 0, used = l ? used_entries(l) : 0; i < used; ++i) {
        Mapping& entry = l->entries[i];
        Mapping former{};
        if (!read(entry, &former) || former.start >= end || former.end <= start ||
            !begin_change(entry, former.version))
            continue;
        const bool before = former.start < start, behind = former.end > end;
        if (removed && removed->count < RemovedMappings::kMost)
            removed->parts[removed->count++] = {before ? start : former.start, behind ? end : former.end, former.path};
        if (before)
            write(entry, former.start, start, former.path);
        else if (behind)
            write(entry, end, former.end, former.path);
        else
            write(entry, 0, 0, 0);
        end_change(entry);
        if (before && behind)
            add(l, end, former.end, former.path);
    }
}

void mapping_restore(const RemovedMappings& removed) {
    for (uint32_t i = 0; i < removed.count; ++i)
        mapping_insert(removed.parts[i].start, removed.parts[i].end - removed.parts[i].start, removed.parts[i].path);
}

bool mapping_find(uint64_t address, uint64_t* start, uint64_t* bytes, trace::NodeId* path) {
    const List* const l = __atomic_load_n(&list, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0, used = l ? used_entries(l) : 0; i < used; ++i) {
        Mapping copy{};
        if (!read(l->entries[i], &copy) || address < copy.start || address >= copy.end)
            continue;
        *start = copy.start;
        *bytes = copy.end - copy.start;
        *path = copy.path;
        return true;
    }
    return false;
}

} // namespace plumb::shim
