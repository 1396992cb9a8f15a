// Builds trace files in memory, record by record, as a writer of the format would: for tests, fuzzing, benchmarks.
#pragma once

#include "trace/file/trace_reader.h"

#include <plumb/trace_format.h>

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace plumb::trace {

// The type that a struct of trace_format.h stands for.
template <class Record> constexpr RecordType type_of() {
#define PLUMB_X(number, name, what)                                                                          \
    if constexpr (std::is_same_v<Record, name>)                                                              \
        return RecordType::name;
    PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X
}

class SyntheticTrace {
  public:
    explicit SyntheticTrace(Writer writer, uint64_t pid = 1, const char* host = "host") {
        bytes_.resize(sizeof(FileHeader));
        FileHeader& file = header();
        std::memcpy(file.magic, kMagic, sizeof kMagic);
        file.major = kMajor;
        file.minor = kMinor;
        file.header_size = sizeof(FileHeader);
        file.writer = static_cast<uint32_t>(writer);
        file.flags = kClosed;
        file.pid = pid;
        file.opened_ns = 1'000;
        file.opened_unix_ns = 1'000'000'001'000;
        std::strncpy(file.host, host, sizeof file.host - 1);
    }

    FileHeader& header() { return *reinterpret_cast<FileHeader*>(bytes_.data()); }

    // Begins a chunk for `room` bytes of records, 0: as many as come. The first record begins one by itself.
    void begin_chunk(uint32_t room = 0) {
        end_chunk();
        chunk_ = bytes_.size();
        room_ = room;
        bytes_.resize(chunk_ + sizeof(ChunkHeader));
        chunk().magic = kChunkMagic;
        chunk().size = sizeof(ChunkHeader) + room;
    }

    ChunkHeader& chunk() { return *reinterpret_cast<ChunkHeader*>(bytes_.data() + chunk_); }

    // Appends a record; returns its offset in the file.
    template <class Record> uint64_t add(Record record, uint32_t tid = 0) {
        record.header = {static_cast<uint16_t>(type_of<Record>()), sizeof(Record), tid};
        return add_bytes(std::as_bytes(std::span(&record, 1)));
    }

    uint64_t add_bytes(std::span<const std::byte> record) {
        if (chunk_ == 0)
            begin_chunk();
        const uint64_t offset = bytes_.size();
        bytes_.insert(bytes_.end(), record.begin(), record.end());
        chunk().committed += record.size();
        if (room_ == 0)
            chunk().size += static_cast<uint32_t>(record.size());
        return offset;
    }

    StringId text(std::string_view text) {
        const size_t padded = (text.size() + 7) / 8 * 8;
        std::vector<std::byte> record(sizeof(String) + padded);
        const String head{.header = {static_cast<uint16_t>(RecordType::String), static_cast<uint16_t>(record.size()), 0},
                          .id = ++strings_,
                          .length = static_cast<uint32_t>(text.size())};
        std::memcpy(record.data(), &head, sizeof head);
        std::memcpy(record.data() + sizeof head, text.data(), text.size());
        add_bytes(record);
        return strings_;
    }

    NodeId node(NodeId parent, uint64_t address, uint32_t flags = 0, uint32_t pid = 0) {
        add(PathNode{.header = {}, .id = ++nodes_, .parent = parent, .address = address, .pid = pid, .flags = flags});
        return nodes_;
    }

    // Fills the last chunk's room with zeros.
    void end_chunk() {
        if (chunk_ != 0 && room_ != 0)
            bytes_.resize(chunk_ + sizeof(ChunkHeader) + room_);
    }

    std::vector<std::byte>& bytes() {
        end_chunk();
        return bytes_;
    }

    // Forgets chunks and records, but not which ids were given: for files written piece by piece.
    void restart() {
        bytes_.resize(sizeof(FileHeader));
        chunk_ = 0;
    }

    // Reads from this object, which must outlive the file.
    TraceReader open(std::string name = "synthetic") {
        end_chunk();
        return TraceReader(std::move(name), [this] { return open_memory(bytes_); });
    }

  private:
    std::vector<std::byte> bytes_;
    size_t chunk_ = 0; // 0: none yet
    uint32_t room_ = 0;
    StringId strings_ = 0;
    NodeId nodes_ = 0;
};

} // namespace plumb::trace
