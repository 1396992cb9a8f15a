// What must hold here: every step moves forward in the file, no size or offset is used before it was checked against
// the end of the file, and memory stays at one window of the file whatever the sizes in it claim.
#include "trace/file/trace_reader.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>

namespace plumb::trace {

namespace {

constexpr size_t kWindowBytes = 1 << 20;
constexpr size_t kMaxNotes = 8;
constexpr size_t kMostEventRuns = 1024;
static_assert(kWindowBytes > UINT16_MAX, "a window holds at least one whole record");

bool plausible(const ChunkHeader& chunk) {
    return chunk.magic == kChunkMagic && chunk.size >= sizeof(ChunkHeader) && chunk.size % 8 == 0;
}

bool is_mpi_event(uint16_t type) {
    return type == static_cast<uint16_t>(RecordType::MpiCollective) || type == static_cast<uint16_t>(RecordType::MpiMessage);
}

bool all_zero(std::span<const std::byte> bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte == std::byte{0}; });
}

} // namespace

const char* record_name(uint16_t type) {
    switch (static_cast<RecordType>(type)) {
#define PLUMB_X(number, name, what)                                                                          \
    case RecordType::name:                                                                                   \
        return #name;
        PLUMB_TRACE_RECORDS(PLUMB_X)
#undef PLUMB_X
    }
    return nullptr;
}

TraceReader::TraceReader(const std::string& path) : TraceReader(path, [path] { return open_file(path); }) {}

TraceReader::TraceReader(std::string name, Opener open) : name_(std::move(name)), open_(std::move(open)) {
    source_ = open_();
    end_ = source_->size();
    stored_bytes_ = source_->stored_bytes();
    check_header();
    source_.reset();
}

void TraceReader::check_header() {
    const auto refuse = [this](uint64_t offset, const std::string& what) {
        throw Error(fmt::format("{}: {} at offset {}", name_, what, offset));
    };
    if (end_ == 0)
        throw Error(fmt::format("{} is empty: its writer ended before it recorded anything", name_));
    const auto bytes = std::as_writable_bytes(std::span(&header_, 1));
    const size_t got = source_->read(0, bytes);
    if (all_zero(bytes.first(got)))
        throw Error(fmt::format("{} holds no header: its writer ended before it recorded anything", name_));
    if (got < sizeof kMagic || std::memcmp(header_.magic, kMagic, sizeof kMagic) != 0)
        refuse(0, "not a trace file of plumb: the magic is missing");
    if (got < offsetof(FileHeader, header_size))
        refuse(got, "the file ends within its header");
    if (header_.major > kMajor)
        throw NewerFormat(fmt::format("{} has trace format {}.{}, but this plumb reads only {}.{}: use the plumb that recorded "
                                      "it, or a newer one",
                                      name_, header_.major, header_.minor, kMajor, kMinor));
    if (header_.major != kMajor)
        refuse(offsetof(FileHeader, major),
               fmt::format("impossible format version {}.{}", header_.major, header_.minor));
    if (got < sizeof(FileHeader))
        refuse(got, "the file ends within its header");
    if (header_.header_size < sizeof(FileHeader) || header_.header_size % 8 != 0 || header_.header_size > end_)
        refuse(offsetof(FileHeader, header_size), fmt::format("impossible header size {}", header_.header_size));
    if (header_.writer != static_cast<uint32_t>(Writer::process) &&
        header_.writer != static_cast<uint32_t>(Writer::recorder))
        refuse(offsetof(FileHeader, writer), fmt::format("unknown kind of writer {}", header_.writer));
    header_.host[sizeof header_.host - 1] = 0;
}

void TraceReader::note(std::string text) {
    if (notes_.size() < kMaxNotes)
        notes_.push_back(std::move(text));
    else
        ++more_notes_;
}

void TraceReader::pass_over_events(bool pass_over) {
    events_ = pass_over ? Events::remembered : Events::visited;
    event_runs_ = std::vector<EventRun>();
}

void TraceReader::see_event(uint64_t offset, uint64_t size) {
    if (!event_runs_.empty() && event_runs_.back().end == offset)
        event_runs_.back().end += size;
    else if (event_runs_.size() < kMostEventRuns)
        event_runs_.push_back({offset, offset + size});
}

// The first run of events to pass over that begins at `offset` or behind it, null: none. Offsets rise within a visit.
const TraceReader::EventRun* TraceReader::next_events(uint64_t offset) {
    if (events_ != Events::passed_over)
        return nullptr;
    while (next_run_ < event_runs_.size() && event_runs_[next_run_].begin < offset)
        ++next_run_;
    return next_run_ < event_runs_.size() ? &event_runs_[next_run_] : nullptr;
}

void TraceReader::visit(const RawVisitor& visitor) {
    next_run_ = 0;
    notes_.clear();
    more_notes_ = 0;
    used_bytes_ = header_.header_size;
    source_ = open_();
    end_ = source_->size();
    buffer_.resize(std::min<uint64_t>(kWindowBytes, end_));
    uint64_t offset = header_.header_size;
    while (offset + sizeof(ChunkHeader) <= end_) {
        ChunkHeader chunk = {};
        if (source_->read(offset, std::as_writable_bytes(std::span(&chunk, 1))) < sizeof chunk)
            break; // it shrank since it was opened
        if (chunk.magic == 0) {
            offset = find_chunk(offset);
        } else if (plausible(chunk)) {
            offset = visit_chunk(offset, chunk, visitor);
        } else {
            const uint64_t next = find_chunk(offset + 8);
            note(fmt::format("{}: no chunk header at offset {}: {} bytes skipped", name_, offset, next - offset));
            offset = next;
        }
    }
    if (more_notes_ != 0)
        notes_.push_back(fmt::format("{}: {} more regions could not be read", name_, more_notes_));
    if (events_ == Events::remembered)
        events_ = Events::passed_over;
    source_.reset();
    buffer_ = std::vector<std::byte>(); // "= {}" would keep the memory, of thousands of files
}

// Chunks follow each other, so this is needed only where a writer died between taking room and writing its header,
// behind the last chunk of a file that was allocated longer than it was used, and in damaged files.
uint64_t TraceReader::find_chunk(uint64_t offset) {
    while (offset + sizeof(ChunkHeader) <= end_) {
        // Chunks start at multiples of 8; the data of a sparse file starts at a block's beginning.
        offset = std::max(offset, source_->next_data(offset) / 8 * 8);
        const size_t got = source_->read(offset, buffer_);
        size_t at = 0;
        for (; at + sizeof(ChunkHeader) <= got; at += 8) {
            ChunkHeader chunk;
            std::memcpy(&chunk, buffer_.data() + at, sizeof chunk);
            if (plausible(chunk))
                return offset + at;
        }
        if (at == 0)
            break;
        offset += at;
    }
    return end_;
}

uint64_t TraceReader::visit_chunk(uint64_t offset, const ChunkHeader& chunk, const RawVisitor& visitor) {
    if (visitor.chunk)
        visitor.chunk({offset, chunk});
    const uint64_t begin = offset + sizeof(ChunkHeader);
    const uint64_t room = std::min<uint64_t>(chunk.size - sizeof(ChunkHeader), end_ - begin);
    const uint64_t next = begin + room;
    if (chunk.committed > room)
        note(fmt::format("{}: the chunk at offset {} should hold {} bytes of records, but {}", name_, offset,
                         chunk.committed,
                         next == end_ ? fmt::format("the file ends after {}", room)
                                      : fmt::format("has room for {}", room)));
    const uint64_t committed = std::min(room, chunk.committed);
    used_bytes_ += sizeof(ChunkHeader) + committed;
    uint64_t done = 0; // bytes of records visited
    while (done < committed) {
        const uint64_t window_begin = begin + done;
        uint64_t left = committed - done;
        if (const EventRun* events = next_events(window_begin); events && events->end <= begin + committed) {
            if (events->begin == window_begin) {
                done += events->end - events->begin;
                continue;
            }
            left = events->begin - window_begin;
        }
        const auto wanted = std::span(buffer_).first(std::min<uint64_t>(left, buffer_.size()));
        const size_t window = source_->read(window_begin, wanted);
        size_t at = 0;
        while (at + sizeof(RecordHeader) <= window) {
            RecordHeader record;
            std::memcpy(&record, buffer_.data() + at, sizeof record);
            if (record.size < sizeof record || record.size % 8 != 0) {
                note(fmt::format("{}: impossible record size {} at offset {}: {} bytes skipped", name_, record.size,
                                 window_begin + at, committed - done - at));
                return next;
            }
            if (record.size > window - at)
                break;
            if (events_ == Events::remembered && is_mpi_event(record.type))
                see_event(window_begin + at, record.size);
            visitor.record({window_begin + at, record, std::span(buffer_).subspan(at, record.size)});
            at += record.size;
        }
        if (at == 0) { // not even one: it reaches past what was committed, or the file shrank
            note(fmt::format("{}: the record at offset {} is cut off: {} bytes skipped", name_, window_begin,
                             committed - done));
            return next;
        }
        done += at;
    }
    return next;
}

} // namespace plumb::trace
