// The recorder's own trace file: RUN/node-<host>-<pid>-<random>.plumb, in the format of plumb/trace_format.h.
//
// It is mapped MAP_SHARED and its blocks are allocated before they are written, so that neither SIGKILL nor a
// full disk costs more than the record in hand. Used by one thread.
#pragma once

#include <plumb/trace_format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace plumb::record {

class NodeTraceWriter {
  public:
    // Creates `path`. `most_bytes` bounds the file; raise_limit() can raise it later up to `reserve_bytes`, for
    // which address space (only) is set aside. Throws Error.
    // With `redact`, paths lose their folders and the host has an alias (plumb/redaction.h).
    NodeTraceWriter(const std::string& path, uint64_t most_bytes, uint64_t reserve_bytes, bool redact = false);
    ~NodeTraceWriter();
    NodeTraceWriter(const NodeTraceWriter&) = delete;
    NodeTraceWriter& operator=(const NodeTraceWriter&) = delete;

    // Appends a record: fills type and size, and returns its place, which stays valid as long as this object, to
    // be updated in place if the record is of the updated kind. Null: no room (counted).
    template <class Record> Record* append(trace::RecordType type, uint32_t tid, Record record) {
        record.header = {static_cast<uint16_t>(type), sizeof(Record), tid};
        return static_cast<Record*>(append_bytes(&record, sizeof(Record)));
    }

    // The id of a text, written once. 0 for an empty text, or if there is no room.
    trace::StringId string(std::string_view text);

    // A text that is written again each time: parts of a long one get consecutive ids.
    trace::StringId new_string(std::string_view text);

    void evidence(std::string_view source, trace::EvidenceState state, std::string_view why,
                  std::string_view enable, uint32_t pid = 0);

    void raise_limit(uint64_t by_bytes);
    void count_dropped(); // something found no room elsewhere, such as in the share of its process
    uint64_t used_bytes() const { return used_; }
    bool redacts() const { return redact_; }

    // The paths whose folders were left out, for who may know them: at most some thousands.
    const std::set<std::string>& private_paths() const { return private_paths_; }

    // Marks the file as ended by its writer and gives unused blocks back.
    void close();

  private:
    void* append_bytes(const void* record, uint32_t bytes);
    bool begin_chunk(uint32_t least_bytes);
    bool allocate_up_to(uint64_t bytes);
    trace::FileHeader& header() { return *reinterpret_cast<trace::FileHeader*>(base_); }

    int fd_ = -1;
    char* base_ = nullptr;
    uint64_t reserve_ = 0, limit_ = 0;
    uint64_t allocated_ = 0; // bytes of the file that have blocks
    uint64_t used_ = 0;      // end of the last chunk
    trace::ChunkHeader* chunk_ = nullptr;
    trace::StringId strings_ = 0;
    std::unordered_map<std::string, trace::StringId> string_ids_;
    bool redact_ = false;
    std::set<std::string> private_paths_;
};

// Adds to (or sets) one field of a record that is already in the file; readers may look at any time.
inline void update(uint64_t& field, uint64_t value) { __atomic_store_n(&field, value, __ATOMIC_RELAXED); }
inline void update(uint32_t& field, uint32_t value) { __atomic_store_n(&field, value, __ATOMIC_RELAXED); }
inline void update(int32_t& field, int32_t value) { __atomic_store_n(&field, value, __ATOMIC_RELAXED); }

uint64_t monotonic_ns();
uint64_t realtime_ns();
uint64_t own_cpu_ns(); // CPU time of this process so far
uint64_t thread_cpu_ns(); // and of the calling thread

} // namespace plumb::record
