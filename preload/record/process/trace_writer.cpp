#include "record/process/trace_writer.h"

#include "platform/os/text.h"
#include "record/process/process.h"
#include "record/process/settings.h"
#include "record/process/threads.h"

#include <plumb/redaction.h>
#include <time.h>

namespace plumb::shim {
namespace {

// Chunks of one thread grow with what it has to say. The first one is small: a thread that only begins and ends
// needs 100 bytes, and 4,096 of them must fit a file of 8 MiB.
constexpr uint32_t kChunkBytes[] = {1024, 4096, 16 * 1024, 64 * 1024};
constexpr uint32_t kChunkSizes = sizeof kChunkBytes / sizeof kChunkBytes[0];
constexpr size_t kTextMax = 65'000;
constexpr uint32_t kEvidenceMax = 64;

std::atomic<uint32_t> evidence_written[kEvidenceMax]; // hashes of process and source

uint64_t committed_bytes(const trace::ChunkHeader& chunk) {
    return std::atomic_ref<const uint64_t>(chunk.committed).load(std::memory_order_relaxed);
}

bool has_room(const trace::ChunkHeader* chunk, uint32_t bytes) {
    return chunk && committed_bytes(*chunk) + sizeof(trace::ChunkHeader) + bytes <= chunk->size;
}

bool take_chunk(ThreadState& thread, uint32_t bytes) {
    uint32_t size = thread.chunks < kChunkSizes ? thread.chunks : kChunkSizes - 1;
    const bool first_thread = thread.tid == recorded_pid();
    if (first_thread && size < 2)
        size = 2; // it writes the process's strings and modules
    const uint32_t least = static_cast<uint32_t>(sizeof(trace::ChunkHeader)) + bytes;
    const uint32_t wanted = kChunkBytes[size] > least ? kChunkBytes[size] : (least + 1023) & ~1023u;
    trace::ChunkHeader* chunk = trace_file().allot(least, wanted, thread.tid);
    if (!chunk)
        return false;
    thread.chunk = chunk;
    ++thread.chunks;
    return true;
}

uint32_t hash_of(const char* text, uint32_t seed) {
    uint32_t hash = 2166136261u ^ seed;
    for (; *text; ++text)
        hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
    return hash ? hash : 1;
}

bool first_time(const char* source) {
    const uint32_t hash = hash_of(source, recorded_pid());
    for (std::atomic<uint32_t>& place : evidence_written) {
        uint32_t seen = 0;
        if (place.compare_exchange_strong(seen, hash, std::memory_order_relaxed))
            return true;
        if (seen == hash)
            return false;
    }
    return false;
}

} // namespace

ThreadState* Guard::adopt_this_thread() {
    if (this_thread == &ended_thread || !recording())
        return nullptr;
    ThreadState* state = this_thread;
    // A state that is dead while the process is recorded is a left-over of the parent.
    if (!(state = allocate_thread_state()))
        return nullptr;
    begin_thread(state);
    return state;
}

void* reserve_record(const Guard& guard, uint32_t bytes) {
    ThreadState& thread = guard.thread();
    if (!has_room(thread.chunk, bytes) && !take_chunk(thread, bytes)) {
        trace_file().count_dropped(1);
        return nullptr;
    }
    thread.pending_bytes = bytes;
    char* place = reinterpret_cast<char*>(thread.chunk + 1) + committed_bytes(*thread.chunk);
    return memset(place, 0, bytes);
}

void commit_record(const Guard& guard, uint32_t bytes) {
    ThreadState& thread = guard.thread();
    trace::ChunkHeader& chunk = *thread.chunk;
    thread.pending_bytes = 0;
    std::atomic_ref<uint64_t>(chunk.committed).store(committed_bytes(chunk) + bytes, std::memory_order_release);
}

void* append_bytes(const Guard& guard, trace::RecordType type, void* record, uint32_t bytes) {
    auto* header = static_cast<trace::RecordHeader*>(record);
    header->type = static_cast<uint16_t>(type);
    header->size = static_cast<uint16_t>(bytes);
    if (header->tid == 0)
        header->tid = guard.thread().tid;
    void* place = reserve_record(guard, bytes);
    if (!place)
        return nullptr;
    memcpy(place, record, bytes);
    commit_record(guard, bytes);
    return place;
}

void* append_free_records(const Guard&, trace::RecordType type, uint32_t bytes_each, uint32_t count) {
    const uint32_t bytes = bytes_each * count, chunk_bytes = bytes + static_cast<uint32_t>(sizeof(trace::ChunkHeader));
    trace::ChunkHeader* const chunk = trace_file().allot(chunk_bytes, chunk_bytes, 0);
    if (!chunk) {
        trace_file().count_dropped(1);
        return nullptr;
    }
    char* const first = reinterpret_cast<char*>(chunk + 1);
    for (uint32_t i = 0; i < count; ++i) {
        auto* const header = reinterpret_cast<trace::RecordHeader*>(first + i * bytes_each);
        header->type = static_cast<uint16_t>(type);
        header->size = static_cast<uint16_t>(bytes_each);
    }
    std::atomic_ref<uint64_t>(chunk->committed).store(bytes, std::memory_order_release);
    return first;
}

uint64_t record_limit_bytes() { return trace_file().limit_bytes(); }
void add_own_cost(uint64_t ns) { trace_file().add_own_cost(ns); }

trace::StringId write_string(const Guard& guard, const char* text, size_t length) {
    if (length > kTextMax)
        length = kTextMax;
    const uint32_t bytes = static_cast<uint32_t>((sizeof(trace::String) + length + 7) & ~size_t{7});
    auto* string = static_cast<trace::String*>(reserve_record(guard, bytes));
    if (!string)
        return 0;
    string->header.type = static_cast<uint16_t>(trace::RecordType::String);
    string->header.size = static_cast<uint16_t>(bytes);
    string->header.tid = guard.thread().tid;
    string->id = next_string_id();
    char* const copy = static_cast<char*>(memcpy(string + 1, text, length));
    if (settings.text(Setting::kRedact)) {
        const size_t kept = redaction::shorten_paths(copy, length);
        memset(copy + kept, 0, length - kept);
        length = kept;
    }
    string->length = static_cast<uint32_t>(length);
    const trace::StringId id = string->id;
    commit_record(guard, bytes);
    return id;
}

void write_evidence(const Guard& guard, const char* source, trace::EvidenceState state, const char* why,
                    const char* enable) {
    if (!first_time(source))
        return;
    trace::Evidence evidence = {};
    evidence.source = write_string(guard, source, strlen(source));
    evidence.state = static_cast<uint32_t>(state);
    evidence.why = why && *why ? write_string(guard, why, strlen(why)) : 0;
    evidence.enable = enable && *enable ? write_string(guard, enable, strlen(enable)) : 0;
    evidence.pid = recorded_pid();
    append(guard, trace::RecordType::Evidence, evidence);
}

uint64_t now_ns() {
    timespec time = {};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(time.tv_nsec);
}

} // namespace plumb::shim
