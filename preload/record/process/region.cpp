#include "record/process/region.h"

#include "platform/os/memory.h"
#include "record/process/trace_writer.h"

#include <atomic>
#include <string.h>

namespace plumb::shim {
namespace {

constexpr size_t kMostNameBytes = 1024;

// Ids by the hash of the name. Lies in pages that a forked child finds zeroed: its file knows none of the names.
struct Known {
    std::atomic<uint64_t> hash; // 0: free
    std::atomic<uint32_t> id;   // 0: being written
};
constexpr size_t kKnown = 1024;
std::atomic<Known*> known{nullptr};

uint64_t hash_of(const char* name, size_t length) {
    uint64_t hash = 0xcbf29ce484222325; // FNV-1a
    for (size_t i = 0; i < length; ++i)
        hash = (hash ^ static_cast<unsigned char>(name[i])) * 0x100000001b3;
    return hash ? hash : 1;
}

Known* known_names() {
    Known* names = known.load(std::memory_order_acquire);
    if (names)
        return names;
    void* pages = allocate_pages(kKnown * sizeof(Known), true);
    if (!pages)
        return nullptr;
    if (known.compare_exchange_strong(names, static_cast<Known*>(pages), std::memory_order_acq_rel))
        return static_cast<Known*>(pages);
    release_pages(pages, kKnown * sizeof(Known));
    return names;
}

trace::StringId id_of(const Guard& guard, const char* name) {
    const size_t length = strnlen(name, kMostNameBytes);
    const uint64_t hash = hash_of(name, length);
    Known* names = known_names();
    for (size_t probe = 0; names && probe < 16; ++probe) {
        Known& entry = names[(hash + probe) % kKnown];
        uint64_t seen = entry.hash.load(std::memory_order_acquire);
        if (seen == 0 && entry.hash.compare_exchange_strong(seen, hash, std::memory_order_acq_rel)) {
            const trace::StringId id = write_string(guard, name, length);
            entry.id.store(id, std::memory_order_release);
            return id;
        }
        if (seen == hash) {
            const uint32_t id = entry.id.load(std::memory_order_acquire);
            return id ? id : write_string(guard, name, length); // another thread is just writing it
        }
    }
    return write_string(guard, name, length);
}

} // namespace

void record_region(const char* name, bool begins) {
    const Guard guard;
    if (!guard)
        return;
    trace::Region record = {};
    record.time_ns = now_ns();
    record.name = id_of(guard, name);
    record.begin = begins ? 1 : 0;
    if (record.name)
        append(guard, trace::RecordType::Region, record);
}

} // namespace plumb::shim
