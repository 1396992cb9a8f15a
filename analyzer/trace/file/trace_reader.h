// Reads one trace file, which is untrusted: it may be damaged, cut off, hostile, or still being written. Whatever
// it holds, reading ends, stays within a fixed buffer, and says in words what it had to leave out.
#pragma once

#include "support/error.h"
#include "trace/file/byte_source.h"

#include <plumb/trace_format.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace plumb::trace {

// One committed record as it stands in the file. `bytes` begins with the header, is `header.size` long and lives
// until the visitor returns.
struct RawRecord {
    uint64_t offset; // of the record in the file
    RecordHeader header;
    std::span<const std::byte> bytes;
};

struct RawChunk {
    uint64_t offset;
    ChunkHeader header;
};

struct RawVisitor {
    std::function<void(const RawRecord&)> record;
    std::function<void(const RawChunk&)> chunk; // may be empty
};

// A file of a newer major version: nothing in it can be trusted to mean what this program thinks.
class NewerFormat : public Error {
  public:
    using Error::Error;
};

// Holds neither a descriptor nor memory for records between visits.
class TraceReader {
  public:
    // Checks the file's header. Throws plumb::Error that names the file and the offset of what is wrong, and, for a
    // newer major version, the version found and the one known.
    explicit TraceReader(const std::string& path);
    // The same with bytes from anywhere; `name` is what errors and notes call them.
    using Opener = std::function<std::unique_ptr<ByteSource>()>;
    TraceReader(std::string name, Opener open);

    const std::string& name() const { return name_; }
    const FileHeader& header() const { return header_; } // its host ends with a NUL
    uint64_t size() const { return end_; } // bytes, as last looked at
    uint64_t stored_bytes() const { return stored_bytes_; } // of them, without the holes of a sparse file; when opened
    bool is_of_recorder() const { return header_.writer == static_cast<uint32_t>(Writer::recorder); }
    bool closed() const { return (header_.flags & kClosed) != 0; }

    // Calls the visitor for every committed record, in file order: chunk by chunk, which is the order of time
    // within one thread but not between threads. May be repeated: a file still written can hold more by then.
    void visit(const RawVisitor& visitor);

    // Readers of everything but single MPI events, which can be nearly all of a file, read it several times: with this set,
    // the next visit remembers where events lie, and those after it pass over them. Their bytes and notes are the same.
    void pass_over_events(bool pass_over);

    // What the last visit had to leave out, in words with offsets. At most a handful of entries.
    const std::vector<std::string>& notes() const { return notes_; }

    // Headers, chunks and records of the last visit: what was recorded, without room that was never used.
    uint64_t used_bytes() const { return used_bytes_; }

  private:
    void check_header();
    struct EventRun {
        uint64_t begin, end; // offsets
    };
    uint64_t visit_chunk(uint64_t offset, const ChunkHeader& chunk, const RawVisitor& visitor);
    uint64_t find_chunk(uint64_t offset);
    const EventRun* next_events(uint64_t offset);
    void see_event(uint64_t offset, uint64_t size);
    void note(std::string text);

    std::string name_;
    Opener open_;
    FileHeader header_ = {};
    uint64_t end_ = 0, stored_bytes_ = 0;
    std::unique_ptr<ByteSource> source_; // only while it is read: a run can have more files than descriptors
    std::vector<std::byte> buffer_;      // likewise
    std::vector<std::string> notes_;
    uint64_t more_notes_ = 0;
    uint64_t used_bytes_ = 0;
    enum class Events { visited, remembered, passed_over } events_ = Events::visited;
    std::vector<EventRun> event_runs_; // by offset
    size_t next_run_ = 0;
};

// Name of a record type, null: not known.
const char* record_name(uint16_t type);

} // namespace plumb::trace
